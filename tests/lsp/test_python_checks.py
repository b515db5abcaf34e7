"""Each check of Python files: the planted fault is found and its fix puts it right."""

import inspect
import textwrap

import pytest
import torch.fx

import fxdap
from fxdap.lsp.python.contracts import FXDAP_METHODS, METHODS, RUN_KEYWORDS, TRANSFORMER_METHODS
from fxdap.lsp.python.file import PythonFile
from fxdap.lsp.python.source import Place

HEAD = "import torch\nfrom torch import fx\n"


def find(body: str):
    return PythonFile(HEAD + textwrap.dedent(body)).findings


def fixed(body: str) -> str:
    """The body after the fix of its only finding."""
    text = HEAD + textwrap.dedent(body)
    (finding,) = PythonFile(text).findings
    assert finding.fix is not None
    edits = sorted(finding.fix.edits, key=lambda edit: edit.place, reverse=True)
    for edit in edits:
        start, end = _offset(text, edit.place)
        text = text[:start] + edit.text + text[end:]
    assert PythonFile(text).findings == []
    return text.removeprefix(HEAD)


def _offset(text: str, place: Place) -> tuple[int, int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts[place.line] + place.column, starts[place.end_line] + place.end_column


def in_class(methods: str, base: str = "fx.Interpreter") -> str:
    return f"class Mine({base}):\n" + textwrap.indent(textwrap.dedent(methods).strip("\n"), "    ")


def in_function(body: str, head: str = "def edit(gm):") -> str:
    return f"{head}\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def test_contracts_are_those_of_the_torch_at_hand():
    for cls, methods in (
        (torch.fx.Interpreter, METHODS),
        (torch.fx.Transformer, TRANSFORMER_METHODS),
        (fxdap.Interpreter, FXDAP_METHODS),
    ):
        for name, contract in methods.items():
            parameters = inspect.signature(getattr(cls, name)).parameters.values()
            bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
            signature = inspect.Signature(bare)
            assert contract.signature(name) == f"{name}{signature}"
    run = inspect.signature(torch.fx.Interpreter.run).parameters
    assert {n for n, p in run.items() if p.kind is p.KEYWORD_ONLY or p.default is not p.empty} == (
        RUN_KEYWORDS
    )


def test_map_nodes_to_values_as_a_store_is_named_and_our_class_offered():
    (finding,) = find(in_class("def map_nodes_to_values(self, node, value): ..."))

    assert finding.code == "override-signature"
    assert "map_nodes_to_values(args, n)" in finding.message
    assert finding.place == Place(3, 8, 3, 27)


def test_a_class_of_ours_may_store_by_map_nodes_to_values():
    body = in_class("def map_nodes_to_values(self, node, value): ...", "fxdap.Interpreter")
    assert find("import fxdap\n" + body) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("def run_node(self): return 1", "def run_node(self, n): return 1"),
        (
            "def call_function(self, target): return target",
            "def call_function(self, target, args, kwargs): return target",
        ),
        ("def fetch_attr(self, a, b): return a", "def fetch_attr(self, target): return a"),
    ],
)
def test_a_signature_that_torch_cannot_call_gets_torchs(wrong, right):
    assert fixed(in_class(wrong)) == in_class(right)


@pytest.mark.parametrize(
    "method",
    [
        "def run_node(self, node): return 1",
        "def run_node(self, n, verbose=False): return 1",
        "def run_node(self, *args): return 1",
        "def call_function(self, *args, **kwargs): return 1",
        "def run(self, x): return super().run(x)",
        "@staticmethod\ndef fetch_attr(target): return 1",
    ],
)
def test_signatures_that_work_are_left_alone(method):
    assert find(in_class(method)) == []


def test_a_hook_method_of_torchs_class_is_unknown_and_ours_has_it():
    body = in_class("def arm(self):\n    self.register_node_post_hook(print)")

    assert "has no method register_node_post_hook" in find(body)[0].message
    whole = fixed(body)
    assert "class Mine(fxdap.Interpreter):" in whole
    assert whole.startswith("import fxdap\n")


def test_the_nearest_method_is_offered():
    body = in_function("interpreter = fx.Interpreter(gm)\ninterpreter.run_nodes(gm)")
    assert "interpreter.run_node(gm)" in fixed(body)


@pytest.mark.parametrize(
    "body",
    [
        in_class("def go(self):\n    self.visit()"),
        in_class("def go(self):\n    self.fetch()\n\ndef fetch(self): ..."),
        "class Mixin: ...\n" + in_class("def go(self): self.run_nodes()", "fx.Interpreter, Mixin"),
        in_class("def __getattr__(self, n): ...\ndef go(self): self.run_nodes()"),
        in_function("i = make()\ni.register_node_post_hook(print)"),
        in_function("i = fx.Interpreter(gm)\ni = wrap(i)\ni.register_node_post_hook(print)"),
        "import fxdap\n"
        + in_function("i = fxdap.Interpreter(gm)\ni.register_node_post_hook(print)"),
    ],
)
def test_methods_that_may_exist_are_left_alone(body):
    assert find(body) == []


def test_a_dropped_value_is_returned():
    body = in_class("def run_node(self, n):\n    print(n)\n    super().run_node(n)")
    assert fixed(body).endswith("    return super().run_node(n)")


def test_a_kept_value_is_returned_at_the_end():
    body = in_class(
        "def call_module(self, target, args, kwargs):\n"
        "    y = super().call_module(target, args, kwargs)\n    print(y)"
    )
    assert fixed(body).endswith("    print(y)\n        return y")


def test_a_path_without_return_is_found():
    (finding,) = find(
        in_class(
            """
            def run_node(self, n):
                if n.op == "output":
                    return super().run_node(n)
                for each in n.args:
                    print(each)
            """
        )
    )
    assert finding.code == "missing-return"
    assert "on some paths only" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        "def run_node(self, n):\n    if n.op == 'x':\n        return 1\n    raise ValueError",
        "def run_node(self, n):\n    with guard():\n        return super().run_node(n)",
        "def run_node(self, n):\n    try:\n        return 1\n    except E:\n        raise",
        "def run_node(self, n):\n    while True:\n        if n: return 1",
        "def run_node(self, n):\n    match n:\n        case 1: return 1\n        case _: return 2",
        "def run_node(self, n):\n    self.seen.append(n)",
        "def run_node(self, n) -> None:\n    super().run_node(n)",
        "def output(self, target, args, kwargs):\n    super().output(target, args, kwargs)",
    ],
)
def test_overrides_that_return_or_mean_not_to_are_left_alone(body):
    assert find(in_class(body)) == []


def test_inputs_by_keyword_become_positional():
    body = in_function("fx.Interpreter(gm).run(x=gm)")
    assert fixed(body) == in_function("fx.Interpreter(gm).run(gm)")


@pytest.mark.parametrize(
    "body",
    [
        in_function("fx.Interpreter(gm).run(gm, initial_env={}, enable_io_processing=False)"),
        in_class("def run(self, x): return super().run(x)")
        + "\n\n"
        + in_function("Mine(gm).run(x=gm)"),
        in_function("runner(gm).run(x=gm)"),
    ],
)
def test_keywords_that_run_has_are_left_alone(body):
    assert find(body) == []


def test_env_is_read_by_node():
    body = in_class("def look(self, n):\n    return self.env[n.name]")
    assert fixed(body).endswith("return self.env[n]")


def test_env_read_by_a_literal_name_is_found():
    (finding,) = find(
        in_function("i = fx.Interpreter(gm)\ni.run(1)\nprint(i.env['relu'])", "def show(gm):")
    )
    assert (finding.code, finding.place.line) == ("env-key", 5)


def test_a_class_with_an_env_of_its_own_may_read_it_by_name():
    stores = in_class(
        "def run_node(self, n):\n    self.env[n.name] = 1\n    return self.env[n.name]"
    )
    assert find(stores) == []


INSERTS = """
for n in gm.graph.nodes:
    if n.op == "call_function" and n.target is torch.relu:
        with gm.graph.inserting_after(n):
            new = gm.graph.call_function({target}, (n,))
"""


def test_a_loop_that_meets_its_own_insertion_is_found_and_put_right():
    body = in_function(INSERTS.format(target="torch.relu"))
    assert "for n in list(gm.graph.nodes):" in fixed(body)


@pytest.mark.parametrize(
    "body",
    [
        INSERTS.format(target="torch.neg"),
        INSERTS.format(target="torch.relu") + "        break",
        INSERTS.format(target="torch.relu").replace("gm.graph.nodes", "list(gm.graph.nodes)"),
        INSERTS.format(target="torch.relu").replace("inserting_after", "inserting_before"),
        INSERTS.format(target="torch.relu").replace("is torch.relu:", "is torch.relu and new(n):"),
        "for n in gm.graph.nodes:\n    gm.graph.erase_node(n)",
    ],
)
def test_loops_that_end_are_left_alone(body):
    assert find(in_function(body)) == []


REPLACES = """
for n in list(g.nodes):
    with g.inserting_before(n):
        new = g.call_function(torch.neg, n.args)
    {between}
    g.erase_node(n)
"""


def test_a_node_whose_users_keep_reading_it_is_not_erased():
    body = in_function(REPLACES.format(between="print(n.name)"), "def edit(g):")
    assert "    n.replace_all_uses_with(new)\n        g.erase_node(n)" in fixed(body)


def test_uses_are_replaced_before_the_node_is_erased():
    body = in_function("g.erase_node(n)\nn.replace_all_uses_with(m)", "def edit(g, n, m):")
    assert fixed(body).endswith("    n.replace_all_uses_with(m)\n    g.erase_node(n)")


@pytest.mark.parametrize(
    "between", ["n.replace_all_uses_with(new)", "take_over(n, new)", "for u in n.users: fix(u)"]
)
def test_erasing_what_is_replaced_is_left_alone(between):
    assert find(in_function(REPLACES.format(between=between), "def edit(g):")) == []


EDITS = """
gm = fx.symbolic_trace(model)
for n in list(gm.graph.nodes):
    n.replace_all_uses_with(n.args[0])
{rest}
"""


@pytest.mark.parametrize("rest", ["return gm", "return gm(torch.ones(1))"])
def test_stale_code_is_generated_anew(rest):
    body = in_function(EDITS.format(rest=rest), "def edit(model):")
    assert f"    gm.graph.lint()\n    gm.recompile()\n    {rest}" in fixed(body)


def test_a_module_that_is_given_and_called_after_edits_is_found():
    body = in_function("gm.graph.eliminate_dead_code()\ngm(1)", "def edit(gm: fx.GraphModule):")
    assert [finding.code for finding in find(body)] == ["missing-recompile"]


@pytest.mark.parametrize(
    "rest",
    [
        "gm.recompile()\nreturn gm",
        "finish(gm)\nreturn gm",
        "gm.graph = gm.graph\nreturn gm",
        "return fx.GraphModule(gm, gm.graph)",
        "return fx.Interpreter(gm).run(1)",
    ],
)
def test_modules_that_are_compiled_anew_are_left_alone(rest):
    assert find(in_function(EDITS.format(rest=rest), "def edit(model):")) == []


@pytest.mark.parametrize("text", ["", "def (", "\0", "x = 'fx", "# fx\n" + "(" * 500, "fx = 1\r\n"])
def test_text_that_is_no_python_has_no_findings(text):
    assert PythonFile(text).findings == []


def test_places_count_characters_not_bytes():
    (finding,) = find(in_class("def run_node(self, n):\n    'é𝄞'; super().run_node(n)"))
    assert finding.fix is not None
    assert finding.fix.edits[0].place == Place(4, 14, 4, 14)
