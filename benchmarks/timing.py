"""Medians of interleaved runs: whatever disturbs the machine disturbs every contender alike."""

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial


def interleave(
    contenders: Mapping[str, Callable[[], object]],
    seconds: float,
    warmups: int = 3,
    turn: float = 0.0,
) -> dict[str, list[float]]:
    """Run all of them in turn, at least 7 rounds and about `seconds` long; seconds per run.

    What takes less than `turn` seconds runs again and again until then, as it does in a program
    that calls it in a loop; else most of what is measured is how cold the others left the caches.
    """
    timed = {}
    for name, run in contenders.items():
        for _ in range(warmups):
            run()
        repeats = max(1, round(turn / stopwatch(run)))
        timed[name] = partial(_mean, run, repeats)
    return take_turns(timed, seconds, warmups=0)


def _mean(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def take_turns(
    contenders: Mapping[str, Callable[[], float]], seconds: float, warmups: int = 1
) -> dict[str, list[float]]:
    """Like `interleave`, for contenders that time themselves."""
    for run in contenders.values():
        for _ in range(warmups):
            run()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    shuffle = random.Random(0)
    deadline = time.perf_counter() + seconds
    rounds = 0
    while rounds < 7 or time.perf_counter() < deadline:
        for name in order:
            times[name].append(contenders[name]())
        # Whoever runs after a large contender finds cold caches; let everyone be it.
        shuffle.shuffle(order)
        rounds += 1
    return times


def ratios(times: Sequence[float], base: Sequence[float]) -> list[float]:
    """Per round, so that a slow moment of the machine cancels out."""
    return [mine / theirs for mine, theirs in zip(times, base, strict=True)]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which `percent` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def spread(values: Sequence[float]) -> tuple[float, float]:
    return percentile(values, 10), percentile(values, 90)


def stopwatch(action: Callable[[], object]) -> float:
    """Seconds that one call took."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
