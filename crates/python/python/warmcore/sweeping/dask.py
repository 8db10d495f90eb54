"""The engine of a Dask scheduler's workers.

A task is the text of the grid, compressed, and some indices; its result are the rows. A task that is done twice, because its
worker was thought to be lost, gives the same rows. Few tasks are under way at a time, so that the scheduler holds no more than
it needs, and the length of later tasks follows what earlier ones took.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
import zlib
from collections.abc import Generator
from typing import Any

from .. import _native
from .._optional import optional
from ..errors import Error, SchedulerError, SweepError, instance
from .batches import UNDER_WAY, Batcher
from .engine import Done

#: The version that workers must have.
VERSION = _native.VERSION
#: How often the scheduler is asked for its workers, in seconds.
_ASK_S = 1.0
#: How often the scheduler's state is looked at while no task ends, in seconds.
_GLANCE_S = 0.25


@functools.lru_cache(maxsize=4)
def _plan(text: bytes) -> _native.Plan:
    """The plan of a compressed grid, kept from task to task."""
    return _native.Plan(text=zlib.decompress(text).decode(), checked=True)


def run_batch(version: str, text: bytes, indices: list[int]) -> tuple[list[str], float, str]:
    """What a worker does: the rows of these points, the seconds that took, and the worker's address.

    Raises:
        SchedulerError: The worker has another version, whose results may differ.
    """
    address = _address()
    if version != _native.VERSION:
        raise SchedulerError(
            f"the worker {address} has warmcore {_native.VERSION}, expected {version}, the version of the client: install the "
            "same wheel on both",
            field="version",
            found=_native.VERSION,
            expected=version,
        )
    began = time.monotonic()
    rows = _plan(text).rows(indices)
    return rows, time.monotonic() - began, address


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # Not on a worker.
        return ""


def address_of(engine: str) -> str:
    """The address that ``engine`` is, as Dask takes it.

    Raises:
        SchedulerError: It is none.
    """
    # One in this process has no address of a network.
    return engine if engine.startswith("inproc://") else _native.scheduler_address(engine)


def connect(engine: Any, timeout: float) -> tuple[Any, bool]:
    """The Dask client that ``engine`` is or names, and whether it is ours to close.

    Raises:
        SchedulerError: The scheduler does not answer within ``timeout`` seconds.
    """
    distributed = optional("distributed", "dask")
    if isinstance(engine, distributed.Client):
        if engine.status != "running":
            raise SchedulerError(f"the client's scheduler is gone (its status is {engine.status}): connect a new one")
        return engine, False
    if not isinstance(engine, str):
        # A cluster, such as distributed.LocalCluster, knows its scheduler.
        engine = getattr(engine, "scheduler_address", engine)
        instance(engine, str, "engine", '"local", an address, or a Dask client')
    address = address_of(engine)
    try:
        return _client(distributed, address, timeout), True
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise SchedulerError(
            f"the Dask scheduler at {address} does not answer within {timeout:g} s: is it running, and can it be reached from "
            f"here? ({error})",
            field="engine",
            found=address,
            expected="the address of a scheduler, such as tcp://scheduler:8786",
        ) from error


def _client(distributed: Any, address: str, timeout: float) -> Any:
    """A client of the scheduler at ``address``.

    Its own timeout does not hold where something listens that never answers, so it is made by a thread that nobody waits for longer.
    """
    made: queue.Queue[Any] = queue.Queue()
    is_late = threading.Event()

    def make() -> None:
        try:
            client = distributed.Client(address, timeout=timeout, set_as_default=False)
        except BaseException as error:  # It belongs to the caller.
            made.put(error)
            return
        made.put(client)
        if is_late.is_set():
            client.close(timeout=1)

    threading.Thread(target=make, name="warmcore-connect", daemon=True).start()
    try:
        found = made.get(timeout=timeout + 2.0)
    except queue.Empty:
        is_late.set()
        raise TimeoutError("something listens there and says nothing") from None
    if isinstance(found, BaseException):
        raise found
    return found


class _Tasks:
    """The tasks that are under way."""

    def __init__(self, client: Any, plan: _native.Plan, retries: int) -> None:
        self._client = client
        self._text = zlib.compress(plan.text.encode())
        self._retries = retries
        self._ended: queue.Queue[Any] = queue.Queue()
        self._number = 0
        #: What each future is to do: its indices, their estimated seconds, and how often it may be tried again.
        self.waiting: dict[Any, tuple[list[int], float, int]] = {}

    def submit(self, indices: list[int], estimated_s: float, tries: int | None = None) -> None:
        """Hands a task over. Earlier ones go first."""
        future = self._client.submit(
            run_batch, VERSION, self._text, indices, pure=False, priority=-self._number, retries=self._retries
        )
        self._number += 1
        self.waiting[future] = (indices, estimated_s, self._retries if tries is None else tries)
        future.add_done_callback(self._ended.put)

    def next(self, timeout: float) -> Any:
        """The next future that ended; ``None`` if none does within ``timeout`` seconds."""
        try:
            return self._ended.get(timeout=timeout)
        except queue.Empty:
            return None

    def cancel(self) -> None:
        """Cancels all that is under way."""
        if self.waiting and self._client.status == "running":
            try:
                self._client.cancel(list(self.waiting), force=True)
            except Exception:  # noqa: BLE001 - the scheduler may be gone, and its tasks with it
                pass
        self.waiting.clear()


def run(client: Any, plan: _native.Plan, batcher: Batcher, retries: int, timeout: float) -> Generator[Done, None, None]:
    """Simulates what ``batcher`` has on the workers of ``client``; gives each task as it is done.

    When the caller leaves early, tasks that are under way are cancelled.

    Raises:
        SchedulerError: The scheduler is gone or has no workers for ``timeout`` seconds, or a worker has another version.
        SweepError: A task was lost more than ``retries`` times.
    """
    tasks = _Tasks(client, plan, retries)
    workers = _Workers(client, timeout)
    try:
        while batcher or tasks.waiting:
            threads = workers.threads()
            while batcher and len(tasks.waiting) < max(UNDER_WAY * threads, 1):
                tasks.submit(*batcher.take(threads))
            future = tasks.next(_GLANCE_S)
            if time.monotonic() - workers.seen > timeout + _ASK_S or client.status in ("closed", "closing"):
                raise _gone(client, timeout)
            if future is None or future not in tasks.waiting:
                continue
            indices, estimated_s, tries = tasks.waiting.pop(future)
            if future.status == "finished":
                try:
                    rows, seconds, worker = future.result()
                except (OSError, TimeoutError):  # Its result is lost with the scheduler.
                    tasks.submit(indices, estimated_s, tries)
                    continue
                yield Done(list(zip(indices, rows)), estimated_s, seconds, worker)
            elif client.status != "running":
                # Lost with the scheduler: wait whether it comes back.
                tasks.submit(indices, estimated_s, tries)
            else:
                _refuse(future, plan, indices, tries)
                tasks.submit(indices, estimated_s, tries - 1)
    finally:
        tasks.cancel()


def _refuse(future: Any, plan: _native.Plan, indices: list[int], tries: int) -> None:
    """Raises what ended ``future``, unless another try may help."""
    distributed = optional("distributed", "dask")
    if future.status == "cancelled":
        cause: BaseException = RuntimeError("it was cancelled")
    else:
        cause = future.exception()
    if isinstance(cause, Error):
        raise cause
    if isinstance(cause, ModuleNotFoundError):
        raise SchedulerError(f"a worker lacks a package ({cause}): install this wheel on all workers") from cause
    if tries > 0:
        return
    lost = isinstance(cause, distributed.scheduler.KilledWorker)
    why = "its workers died each time; is the memory of a worker enough?" if lost else str(cause)
    raise SweepError(
        f"the task of {len(indices)} points from `{plan.point(indices[0])}` failed after all retries: {why}"
    ) from cause


class _Workers:
    """How many tasks the workers run at a time, asked for now and then."""

    def __init__(self, client: Any, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._asked = -_ASK_S
        self._threads = 0
        #: When workers were there last.
        self.seen = time.monotonic()

    def threads(self) -> int:
        """Their threads; what it was before if the scheduler does not say."""
        now = time.monotonic()
        if now - self._asked < _ASK_S:
            return self._threads
        self._asked = now
        if self._client.status == "running":
            try:
                told = self._client.sync(self._client.scheduler.ncores, workers=None, callback_timeout=self._timeout)
            except (OSError, TimeoutError):  # It is gone, or about to be: what `seen` says decides.
                return self._threads
            self._threads = sum(told.values())
            if self._threads > 0:
                self.seen = time.monotonic()
        return self._threads


def _gone(client: Any, timeout: float) -> SchedulerError:
    if client.status == "running":
        return SchedulerError(f"the Dask scheduler has no workers for {timeout:g} s: start some; finished points are kept")
    return SchedulerError(
        f"the Dask scheduler is gone (the client is {client.status}): finished points are kept; start it and sweep again to go on"
    )
