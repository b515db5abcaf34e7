"""Small programs that the dialogues run."""

TRACED = """\
import torch
from torch import fx, nn


class Model(nn.Module):
    def forward(self, x):
        a = x + 1
        b = torch.relu(a)
        return b * 2


graph = fx.symbolic_trace(Model())
"""

MINE = """\
import torch
from torch import fx, nn

@fx.wrap
def mine(x):
    y = x + 1
    return y

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(mine(x)) * 2

graph = fx.symbolic_trace(Model())
"""
"""The user's Python is in it: `mine` begins on line 6, and what follows on line 14."""

ONE_RUN = TRACED + "print(graph(torch.ones(2)).tolist())\n"

COUNTED = f"""{TRACED}
total = torch.zeros(2)
for i in range(6):
    total = total + graph(torch.full((2,), float(i)))
print(total.tolist())
"""

FAILING = """\
import torch
from torch import fx, nn


class Model(nn.Module):
    def forward(self, x, y):
        a = torch.relu(x)
        return torch.mm(a, y)


graph = fx.symbolic_trace(Model())


def run():
    return graph(torch.ones(2, 3), torch.ones(2, 3))

"""

FOREVER = f"""\
import sys, time
{TRACED}
rounds = 0
while not (graph(torch.ones(2)) == 0).all():
    rounds += 1
    time.sleep(0.001)
print("rounds", rounds > 0)
"""
"""Runs until someone sets `mul` to zero."""

TWO_GRAPHS = TRACED + "print(graph(graph(torch.ones(2))).tolist())\n"

TWO_THREADS = f"""\
import threading
{TRACED}
done = threading.Event()


def quick():
    for _ in range(50):
        graph(torch.ones(3))
    done.set()


def slow():
    graph(torch.zeros(2))
    print("quick was done:", done.wait(30))


first = threading.Thread(target=slow, name="slow")
first.start()
second = threading.Thread(target=quick, name="quick")
second.start()
"""
"""The main thread does not wait for the others."""

TWINS = f"""\
import threading
{TRACED}


results = {{}}


def work(number):
    results[number] = graph(torch.full((2,), float(number))).tolist()


twins = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for twin in twins:
    twin.start()
for twin in twins:
    twin.join()
print(results[0], results[1])
"""
"""Two threads begin the same new graph at once."""
