"""The engine of this machine: threads, which the interpreter's lock does not hold up while they simulate."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Generator

from .._native import Plan
from .batches import Batcher
from .engine import Done


def run(plan: Plan, batcher: Batcher, jobs: int | None) -> Generator[Done, None, None]:
    """Simulates what ``batcher`` has, ``jobs`` tasks at a time; gives each task as it is done.

    When the caller leaves early, no point is begun any more, and those that are under way are waited for.
    """
    workers = jobs or len(os.sched_getaffinity(0))
    done: queue.Queue[Done | BaseException] = queue.Queue()
    turn = threading.Lock()
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            with turn:
                indices, estimated_s = batcher.take(workers)
            if not indices:
                return
            try:
                began = time.monotonic()
                rows = plan.rows(indices)
                done.put(Done(list(zip(indices, rows)), estimated_s, time.monotonic() - began, ""))
            except BaseException as error:  # noqa: BLE001 - it is raised where results are taken
                done.put(error)
                return

    threads = [threading.Thread(target=work, name=f"warmcore-{number}") for number in range(workers)]
    for thread in threads:
        thread.start()
    try:
        while True:
            try:
                # With a timeout, so that Ctrl-C is seen at once.
                found = done.get(timeout=0.1)
            except queue.Empty:
                if any(thread.is_alive() for thread in threads) or not done.empty():
                    continue
                return
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        is_over.set()
        plan.stop()
        for thread in threads:
            thread.join()
