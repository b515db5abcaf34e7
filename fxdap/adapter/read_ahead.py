"""Asking a stopped debuggee what the client will ask, before it does."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import NamedTuple

from msgspec import MsgspecError, Struct

from fxdap.adapter.client import Answer
from fxdap.wire.dispatch import decode_arguments, decode_body
from fxdap.wire.envelope import Request, Response
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    ScopesArguments,
    ScopesResponseBody,
    StackTraceArguments,
    StackTraceResponseBody,
    VariablesArguments,
)

FRESH_S = 0.1
"""How long after a stop an answer is given that was got ahead."""

MOST = 8
"""Questions that are asked ahead."""

_FIRST = ("threads", "stackTrace")
_BELOW = ("scopes", "variables")  # these need the stack's answer


class Question(NamedTuple):
    """A request without its number."""

    command: str
    arguments: Struct


class _Stop:
    """What is known of one stop; `expected` is what the client asked after the one before."""

    def __init__(self, thread: int | None, expected: list[Question]) -> None:
        self.thread = thread
        self.began = monotonic()
        self.expected = expected
        self.habits: list[Question] = []
        """What the client asks."""
        self.ahead: dict[Question, _Asked] = {}
        self._top: int | None = None
        self._scopes: set[int] = set()

    def note(self, question: Question) -> None:
        """The client asks this."""
        is_new = len(self.habits) < MOST and question not in self.habits
        if is_new and self._can_be_asked_ahead(question.arguments):
            self.habits.append(question)

    def _can_be_asked_ahead(self, arguments: Struct) -> bool:
        """Whether it can be told at the next stop, and changes nothing.

        Of variables only the scopes' own: those further down may be computed by the user's code.
        """
        if isinstance(arguments, ScopesArguments):
            return arguments.frame_id == self._top
        if isinstance(arguments, VariablesArguments):
            return arguments.variables_reference in self._scopes
        return True

    def expect(self, commands: tuple[str, ...]) -> list["_Asked"]:
        """Those of the expected questions, about this stop's frame on top."""
        found = [_Asked(q, self) for q in self._questions() if q.command in commands]
        self.ahead.update((asked.question, asked) for asked in found)
        return found

    def give_up(self) -> None:
        """Nothing more is asked ahead, and no answer serves."""
        self.expected = []
        self.ahead.clear()

    def _questions(self) -> Iterator[Question]:
        for question in self.expected:
            if question.command == "scopes" and self._top is not None:
                yield Question("scopes", ScopesArguments(frame_id=self._top))
            else:
                yield question

    def learn(self, question: Question, answer: Response) -> bool:
        """Which frame is on top, and which variables are its scopes; whether the first is new."""
        arguments, top = question.arguments, self._top
        if isinstance(arguments, StackTraceArguments):
            if arguments.thread_id == self.thread and not arguments.start_frame:
                frames = decode_body(StackTraceResponseBody, answer.body).stack_frames
                self._top = frames[0].id if frames else None
        elif isinstance(arguments, ScopesArguments) and arguments.frame_id == top:
            scopes = decode_body(ScopesResponseBody, answer.body).scopes
            self._scopes = {scope.variables_reference for scope in scopes}
        return self._top != top


class _Asked:
    """A question that is asked ahead: its answer, or the client's request that waits for it."""

    def __init__(self, question: Question, stop: _Stop) -> None:
        self.question = question
        self.stop = stop
        self.answer: Response | None = None
        self.client: Request | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether its answer may serve."""
        return self.client is not None or self.stop.ahead.get(self.question) is self


class ReadAhead:
    """Asks after a stop what the client asked after the one before, and answers from that.

    An editor asks the same at every stop: threads, the stack, the scopes of the frame on top, their
    variables, each when it has the answer before. Asked at once, all that costs it a quarter less.
    An answer is given only if it is what the debuggee would say now: any other request, its answer,
    any event but output, and a tenth of a second make it void.

    Threads: the client thread calls `takes`, the debuggee thread `happened`, `told`, `answered` and
    what `ask` is given, any thread `forget`. `_lock` guards all; nothing is sent while it is held.
    """

    def __init__(
        self,
        ask: Callable[[str, Struct, Answer], None],
        pass_on: Callable[[Request, Response | None], None],
    ) -> None:
        """`pass_on` gives a request of the client its answer, None if none can come."""
        self._ask = ask
        self._pass_on = pass_on
        self._lock = threading.Lock()
        self._stop = _Stop(None, [])
        self._due: list[_Asked] = []

    def takes(self, request: Request) -> bool:
        """Whether a request of the client has its answer now, or gets the one under way."""
        question = _question(request)
        if question is None:
            self.forget()
            return False
        with self._lock:
            self._stop.note(question)
            asked = self._stop.ahead.pop(question, None)
            if asked is None or monotonic() - self._stop.began > FRESH_S:
                return False
            if asked.answer is None:
                asked.client = request
                return True
        self._pass_on(request, asked.answer)
        return True

    def forget(self) -> None:
        """What was asked ahead may not be true any more."""
        with self._lock:
            self._stop.give_up()

    def happened(self, event: str, thread: int | None) -> None:
        """The client is about to be told of an event; `thread` is the one that stopped last."""
        if event == "stopped":
            self._stopped(thread)
        elif event != "output":
            self.forget()

    def told(self) -> None:
        """The client has been told of it: now ask what is due."""
        due, self._due = self._due, []
        self._get(due)

    def answered(self, request: Request, answer: Response) -> None:
        """The client is about to have an answer of the debuggee's.

        What was asked for before the stop may have gone on until now, on another thread.
        """
        question = _question(request)
        if question is None:
            self.forget()
        else:
            self._learn(self._stop, question, answer)

    def _stopped(self, thread: int | None) -> None:
        with self._lock:
            self._stop.give_up()
            expected = self._stop.habits if self._stop.thread == thread else []
            self._stop = _Stop(thread, expected)
            self._due = self._stop.expect(_FIRST)

    def _get(self, due: list[_Asked]) -> None:
        for asked in due:
            with self._lock:
                wanted = asked.is_wanted
            if wanted:
                self._ask(*asked.question, partial(self._got, asked))

    def _got(self, asked: _Asked, answer: Response | None) -> None:
        due = []
        if answer is not None and self._learn(asked.stop, asked.question, answer):
            with self._lock:
                due = asked.stop.expect(_BELOW)
        with self._lock:
            asked.answer = answer
            if answer is None or not answer.success:
                asked.stop.ahead.pop(asked.question, None)
        if asked.client is not None:
            self._pass_on(asked.client, answer)
        self._get(due)

    def _learn(self, stop: _Stop, question: Question, answer: Response) -> bool:
        if not answer.success:
            return False
        with self._lock:
            try:
                return stop.learn(question, answer)
            except MsgspecError:  # the client may know better
                return False


def _question(request: Request) -> Question | None:
    """A request that changes nothing and is asked at every stop; None for any other."""
    if request.command not in (*_FIRST, *_BELOW):
        return None
    try:
        return Question(request.command, decode_arguments(request))
    except RequestError:  # the debuggee will say so
        return None
