"""The node selector language: which nodes of a program a text means (README, "Selectors")."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch.fx import Node

from fxdap.engine.program import Program
from fxdap.view.node_text import node_line, target_names
from fxdap.view.scope import module_scopes
from fxdap.view.source import user_line

OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")

Test = Callable[[Program, Node], bool]


class SelectorError(ValueError):
    """A selector that cannot be read; the text says which term and what is possible."""


@dataclass(frozen=True)
class Match:
    """What a selector meant in one program."""

    indices: tuple[int, ...]
    taken_as: str


@dataclass(frozen=True)
class Selector:
    """A parsed selector. `after` asks to stop after the node instead of before."""

    text: str
    terms: tuple["Term", ...]
    after: bool

    def match(self, program: Program) -> Match:
        """Return the nodes of `program` that every term matches, and how bare terms were read."""
        named = program.by_name.get(self.terms[0].value)
        if named is not None and self.terms == (Term("", self.terms[0].value, False),):
            return Match((named,), _named(self.terms[0].value))
        tests = [term.test(program) for term in self.terms]
        indices = tuple(
            i for i, node in enumerate(program.nodes) if all(t(program, node) for t, _ in tests)
        )
        return Match(indices, ", ".join(meaning for _, meaning in tests if meaning))


@dataclass(frozen=True)
class Term:
    """One term: `kind` is "" for a bare term, "/" for a regular expression."""

    kind: str
    value: str
    negated: bool

    def test(self, program: Program) -> tuple[Test, str]:
        """Return a predicate and, for a bare term, what it was taken for."""
        test, meaning = self._bare(program) if self.kind == "" else (_TESTS[self.kind](self), "")
        if self.negated:
            return (lambda p, n: not test(p, n)), meaning and f"not {meaning}"
        return test, meaning

    def _bare(self, program: Program) -> tuple[Test, str]:
        if any(_glob(node.name, self.value) for node in program.nodes):
            return _name_test(self), _named(self.value)
        if self.value in OPCODES:
            return _opcode_test(self), f"opcode {self.value!r}"
        return _target_test(self), f"target {self.value!r}"


def parse_selector(text: str) -> Selector:
    """Parse a selector. Raises SelectorError for an unknown kind, opcode or bad expression."""
    after = text.strip().startswith("after:")
    rest = text.strip().removeprefix("after:")
    words = re.findall(r"!?/(?:\\.|[^/\\])+/(?=\s|$)|\S+", rest)
    if not words:
        raise SelectorError("empty selector: write a node name, op:, target:, module:, class:, ...")
    terms = []
    for word in words:
        if word.lstrip("!").startswith("after:"):
            after, word = True, word.replace("after:", "", 1)
        terms.append(_parse_term(word))
    return Selector(text, tuple(terms), after)


def _parse_term(word: str) -> Term:
    negated = word.startswith("!")
    body = word[1:] if negated else word
    if len(body) > 2 and body.startswith("/") and body.endswith("/"):
        return _regex_term(body[1:-1], negated)
    kind, colon, value = body.partition(":")
    if colon and kind in _TESTS and kind != "/":
        return _keyed_term(kind, value, negated)
    if colon and kind.isidentifier():
        known = ", ".join(f"{k}:" for k in _TESTS if k != "/")
        raise SelectorError(f"unknown selector kind {kind + ':'!r} in {word!r}; known: {known}")
    if not body:
        raise SelectorError(f"nothing to select in {word!r}")
    return Term("", body.removeprefix("%"), negated)


def _keyed_term(kind: str, value: str, negated: bool) -> Term:
    if not value:
        raise SelectorError(f"{kind + ':'!r} needs a value, such as {_EXAMPLES[kind]!r}")
    if kind == "op" and value not in OPCODES:
        raise SelectorError(f"unknown opcode {value!r}; opcodes: {', '.join(OPCODES)}")
    if kind == "source" and not re.fullmatch(r".+:\d+", value):
        raise SelectorError(f"source: needs FILE:LINE, got {value!r}; such as 'source:model.py:42'")
    return Term(kind, value, negated)


def _regex_term(pattern: str, negated: bool) -> Term:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SelectorError(f"bad regular expression /{pattern}/: {error}") from None
    return Term("/", pattern, negated)


def _named(name: str) -> str:
    return f"node name {name!r}"


def _glob(text: str, pattern: str) -> bool:
    return text == pattern or fnmatchcase(text, pattern)


def _name_test(term: Term) -> Test:
    return lambda _, node: _glob(node.name, term.value)


def _opcode_test(term: Term) -> Test:
    return lambda _, node: node.op == term.value


def _target_test(term: Term) -> Test:
    return lambda _, node: any(_glob(name, term.value) for name in target_names(node))


def _module_test(term: Term) -> Test:
    wanted = term.value.split(".")

    def test(_: Program, node: Node) -> bool:
        scopes = module_scopes(node)
        if not scopes:
            return False
        path = scopes[-1].path.split(".")
        return len(path) >= len(wanted) and all(map(_glob, path, wanted))

    return test


def _class_test(term: Term) -> Test:
    def test(_: Program, node: Node) -> bool:
        return any(
            _glob(scope.class_name, term.value) or _glob(scope.qualified_class, term.value)
            for scope in module_scopes(node)
        )

    return test


def _source_test(term: Term) -> Test:
    file, _, line = term.value.rpartition(":")

    def test(_: Program, node: Node) -> bool:
        where = user_line(node)
        if where is None or where.line != int(line):
            return False
        return where.file == file or where.file.replace("\\", "/").endswith("/" + file)

    return test


def _graph_test(term: Term) -> Test:
    return lambda program, _: _glob(program.name, term.value)


def _line_test(term: Term) -> Test:
    pattern = re.compile(term.value)
    return lambda _, node: pattern.search(node_line(node)) is not None


_TESTS: dict[str, Callable[[Term], Test]] = {
    "op": _opcode_test,
    "target": _target_test,
    "module": _module_test,
    "class": _class_test,
    "source": _source_test,
    "graph": _graph_test,
    "/": _line_test,
}

_EXAMPLES = {
    "op": "op:call_module",
    "target": "target:aten.add",
    "module": "module:layers.0",
    "class": "class:Attention",
    "source": "source:model.py:42",
    "graph": "graph:gpt",
}
