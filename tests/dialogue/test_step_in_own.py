"""Stepping in where the user's own Interpreter runs the nodes."""

from tests.dialogue.conftest import Connect


def test_it_is_said_once_that_python_code_is_not_entered(connect: Connect) -> None:
    dialogue = connect()
    dialogue.launch("sigmoid", program="script.py", stopOnEntry=False)
    dialogue.stopped("function breakpoint", "sigmoid")
    dialogue.go("stepIn")
    dialogue.stopped("step", "mul")
    assert "Step In enters" not in dialogue.client.output("console")
    for _ in range(2):
        dialogue.go("continue")
        dialogue.stopped("function breakpoint", "sigmoid")
    for node in ("mul", "output"):
        dialogue.go("stepIn")
        dialogue.stopped("step", node)
    said = dialogue.client.output("console")
    assert said.count("It does not enter Python code, such as that of Profile, yet") == 1
    dialogue.go("continue")
    dialogue.ended(0)
