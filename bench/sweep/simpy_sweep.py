"""The sweep of `measure.py` as one would write it with SimPy: the packet model of Salehi, Kurose & Towsley 1994 in Python.

Locking, processors chosen by MRU or LRU, Poisson arrivals of equal streams; the costs are those of the SGI Challenge XL in
outline: a packet takes `HOT` microseconds where everything is cached, more for a stream or a stack that another processor wrote
last, and up to `COLD` after other work. Points are independent and go to a pool of processes, as `multiprocessing` has it.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import time
from typing import Any

HOT, STREAM, STACK, COLD, FORGETS = 116.0, 20.0, 12.0, 150.0, 3_000.0


def point(task: tuple[str, float, int, int]) -> tuple[float, float]:
    """The mean delay of `packets`, in microseconds, and the seconds that it took to simulate them."""
    policy, load, seed, packets = task
    import simpy

    began = time.perf_counter()
    draw = random.Random(seed)
    environment = simpy.Environment()
    processors, streams = 8, 8
    rate = load * processors / (HOT + 25.0)
    idle: list[int] = list(range(processors))
    since = [0.0] * processors
    waiting: list[Any] = []
    last_of_stream = [-1] * streams
    last_of_stack = -1
    total = 0.0

    def packet(stream: int) -> Any:
        nonlocal total, last_of_stack
        arrived = environment.now
        if not idle:
            turn = environment.event()
            waiting.append(turn)
            yield turn
        processor = idle.pop(-1 if policy == "mru" else 0)
        away = environment.now - since[processor]
        service = HOT + (COLD - HOT) * (1.0 - math.exp(-away / FORGETS))
        service += STREAM * (last_of_stream[stream] != processor) + STACK * (last_of_stack != processor)
        yield environment.timeout(service)
        last_of_stream[stream] = last_of_stack = since_processor = processor
        since[since_processor] = environment.now
        idle.append(processor)
        if waiting:
            waiting.pop(0).succeed()
        total += environment.now - arrived

    def source() -> Any:
        for _ in range(packets):
            yield environment.timeout(draw.expovariate(rate))
            environment.process(packet(draw.randrange(streams)))

    environment.process(source())
    environment.run()
    return total / packets, time.perf_counter() - began


def sweep(points: list[tuple[str, float, int]], packets: int, workers: int) -> float:
    """Simulates all `points`, so many packets each, and returns the seconds that this took."""
    tasks = [(*one, packets) for one in points]
    # Not forked: the caller has threads.
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        pool.map(point, [("mru", 0.5, 0, 10)] * workers)
        began = time.perf_counter()
        pool.map(point, tasks, chunksize=1)
        return time.perf_counter() - began
