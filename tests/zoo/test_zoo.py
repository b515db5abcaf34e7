"""Small models of many architectures, debugged as torch.export and as Dynamo capture them."""

from importlib.util import find_spec

import pytest

from tests.zoo.captures import CAPTURES, Captured
from tests.zoo.checks import check_listing, check_reading, check_stops, check_values, listing_of
from tests.zoo.collection import BY_NAME, ZOO
from tests.zoo.conftest import SecondProcess
from tests.zoo.second import digest

pytestmark = [
    pytest.mark.zoo,
    pytest.mark.filterwarnings("ignore:::(torch|transformers|timm)"),
]


@pytest.mark.parametrize("name", [each.name for each in ZOO])
def test_the_debugger_tells_the_truth_about(
    name: str, second_process: SecondProcess, report: list[str]
) -> None:
    if name.startswith("timm/") and find_spec("timm") is None:
        pytest.skip("needs timm, installed without what it asks for (as make does)")
    captured = {how: capture(BY_NAME[name]) for how, capture in CAPTURES.items()}
    digests = {}
    for graph in (graph for each in captured.values() for graph in each.graphs):
        listing = listing_of(graph)
        check_listing(graph, listing)
        check_reading(graph, listing)
        check_values(graph)
        check_stops(graph, listing)
        digests[graph.title] = digest(listing.text)
    assert digests == second_process.digests(name)
    assert any(each.graphs for each in captured.values())
    told = "  ".join(f"{how} {_told(each)}" for how, each in captured.items())
    report.append(f"{name:27}{BY_NAME[name].family:20}{told}")


def _told(captured: Captured) -> str:
    if not captured.graphs:
        return f"(torch cannot: {captured.refusal})"
    counts = [len(graph.module.graph.nodes) for graph in captured.graphs]
    return f"{sum(counts)} nodes" + (f" in {len(counts)} graphs" if len(counts) > 1 else "")
