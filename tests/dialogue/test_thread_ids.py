"""Requests about a thread that the client was told of, before it runs a graph and after its end."""

from tests.dialogue.conftest import Listen
from tests.dialogue.dialogue import Dialogue
from tests.dialogue.scripts import TRACED

CODE = f"""\
import threading, fxdap
{TRACED}
fxdap.listen(token="secret")
for name in ["one", "two"]:
    input()
    worker = threading.Thread(target=graph, args=(torch.ones(2),), name=name)
    worker.start()
    worker.join()
    print("over")
input()
"""
NEED_A_STOP = ("continue", "next", "stepIn", "stepOut", "stackTrace", "exceptionInfo")


def listed(dialogue: Dialogue) -> list[tuple[int, str]]:
    return [(thread.id, thread.name) for thread in dialogue.client.request("threads").threads]


def test_a_thread_that_was_listed_is_known_before_and_after_it_runs_graphs(listen: Listen) -> None:
    listening = listen(CODE)
    dialogue = listening.connect()
    dialogue.initialize()
    dialogue.attach()
    assert listed(dialogue) == [(1, "MainThread")]
    for command in NEED_A_STOP:
        assert dialogue.refused(command, {"threadId": 1}) == "notStopped"
        assert dialogue.refused(command, {"threadId": 2}) == "there is no thread 2"
    assert dialogue.refused("pause", {"threadId": 2}) == "there is no thread 2"
    nothing = "thread 1 runs no graph that could be unwound; 'terminate' ends the program"
    assert dialogue.refused("terminateThreads", {"threadIds": [1]}) == nothing
    for _ in range(2):
        listening.tell("")
        assert listening.lines(1) == ["over"]
    assert listed(dialogue) == [(1, "MainThread")]
    for ident in (1, 2):
        for command in NEED_A_STOP:
            assert dialogue.refused(command, {"threadId": ident}) == "notStopped"
        assert "unwound" in dialogue.refused("terminateThreads", {"threadIds": [ident]})
    assert dialogue.refused("pause", {"threadId": 2}) == "thread 2 is over"
    assert dialogue.refused("continue", {"threadId": 3}) == "there is no thread 3"
    dialogue.client.request("disconnect")
    dialogue.close()
