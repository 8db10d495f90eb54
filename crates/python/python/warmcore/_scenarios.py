"""Scenarios and their parts. Written by ``generate.py`` from the Rust sources: change those.

In constructors, a field that is not given, or ``None``, is at its default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ._document import Part, Scenario

__all__ = [
    "Application",
    "Batch",
    "Blocking",
    "Bursts",
    "CacheLevel",
    "ClusterDispatch",
    "ClusterMachine",
    "ClusterScenario",
    "Effects",
    "Ends",
    "Footprint",
    "Jobs",
    "Live",
    "Lock",
    "MachineCaches",
    "MemoryPart",
    "PacketScenario",
    "QueueTable",
    "RecordedDelays",
    "RecordedFigures",
    "RecordedThread",
    "References",
    "RunLength",
    "RunQueueMachine",
    "RunQueueScenario",
    "Scheduler",
    "Scheduling",
    "Service",
    "Size",
    "Traffic",
]


class Application(Part):
    """An application: processes that behave alike.

    A process computes for a *burst*, then does something that ends its time on the processor: it blocks, yields on a lock,
    or lets the kernel search the queue. A quantum may end in the middle of a burst, which then goes on later. Times of
    computing are without those of cache misses, which the simulator adds.
    """

    _names = ("name", "processes", "background", "work_ms", "serial_ms", "jobs", "footprint", "references", "bursts", "ends", "blocking", "lock", "base", "attached", "recorded", "threads")
    _parts = {"jobs": "Jobs", "footprint": "Footprint", "references": "References", "bursts": "Bursts", "ends": "Ends", "blocking": "Blocking", "lock": "Lock", "recorded": "RecordedDelays"}
    _lists = {"threads": "RecordedThread"}
    _left_out = {"background": False, "serial_ms": 0.0, "bursts": {}, "ends": {}, "attached": [], "threads": []}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            name: str | None = None,
            processes: int | None = None,
            background: bool | None = None,
            work_ms: float | None = None,
            serial_ms: float | None = None,
            jobs: Jobs | Mapping[str, Any] | None = None,
            footprint: Footprint | Mapping[str, Any] | None = None,
            references: References | Mapping[str, Any] | None = None,
            bursts: Bursts | Mapping[str, Any] | None = None,
            ends: Ends | Mapping[str, Any] | None = None,
            blocking: Blocking | Mapping[str, Any] | None = None,
            lock: Lock | Mapping[str, Any] | None = None,
            base: int | None = None,
            attached: Iterable[int] | None = None,
            recorded: RecordedDelays | Mapping[str, Any] | None = None,
            threads: Iterable[RecordedThread | Mapping[str, Any]] | None = None,
        ) -> None: ...

    @property
    def name(self) -> str:
        """Its name."""
        return self._get("name")  # type: ignore[no-any-return]

    @property
    def processes(self) -> int:
        """How many processes it has at a time."""
        return self._get("processes")  # type: ignore[no-any-return]

    @property
    def background(self) -> bool:
        """Whether it only takes processors and caches from the others: how fast the mix is does not count it."""
        return self._get("background")  # type: ignore[no-any-return]

    @property
    def work_ms(self) -> float | None:
        """How long each computes in all, in milliseconds; with ``jobs``, how long each job does. Without it, for ever."""
        return self._get("work_ms")  # type: ignore[no-any-return]

    @property
    def serial_ms(self) -> float:
        """How long its first process computes before the others start, in milliseconds."""
        return self._get("serial_ms")  # type: ignore[no-any-return]

    @property
    def jobs(self) -> Jobs | None:
        """Work that comes in jobs, each done by several short-lived processes, as a parallel make does."""
        return self._get("jobs")  # type: ignore[no-any-return]

    @property
    def footprint(self) -> Footprint:
        """What it does to caches."""
        return self._get("footprint")  # type: ignore[no-any-return]

    @property
    def references(self) -> References | None:
        """What it refers to, instead of a footprint, if the machine's caches are simulated."""
        return self._get("references")  # type: ignore[no-any-return]

    @property
    def bursts(self) -> Bursts:
        """How long a process computes until it next gives up the processor by itself."""
        return self._get("bursts")  # type: ignore[no-any-return]

    @property
    def ends(self) -> Ends:
        """How it does so."""
        return self._get("ends")  # type: ignore[no-any-return]

    @property
    def blocking(self) -> Blocking:
        """How long it blocks, and who wakes it up."""
        return self._get("blocking")  # type: ignore[no-any-return]

    @property
    def lock(self) -> Lock:
        """What it waits for when it yields."""
        return self._get("lock")  # type: ignore[no-any-return]

    @property
    def base(self) -> int:
        """Base priority, lower runs first. With a fair scheduler, the nice value."""
        return self._get("base")  # type: ignore[no-any-return]

    @property
    def attached(self) -> tuple[int, ...]:
        """The processors to which its processes are fixed, one after the other; empty if the scheduler decides."""
        return self._get("attached")  # type: ignore[no-any-return]

    @property
    def recorded(self) -> RecordedDelays | None:
        """What was recorded of how long its threads waited for a processor, for comparison with what is simulated."""
        return self._get("recorded")  # type: ignore[no-any-return]

    @property
    def threads(self) -> tuple[RecordedThread, ...]:
        """What each process did, if it was recorded. Bursts, ends, blocking and work are then not used."""
        return self._get("threads")  # type: ignore[no-any-return]


class Batch(Part):
    """Packets of one stream that arrive together (Salehi, Kurose & Towsley 1994, §3)."""

    _names = ("mean", "distribution")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            mean: float | None = None,
            distribution: Literal["deterministic", "geometric"] | None = None,
        ) -> None: ...

    @property
    def mean(self) -> float:
        """Mean number of packets in a batch, at least 1."""
        return self._get("mean")  # type: ignore[no-any-return]

    @property
    def distribution(self) -> Literal["deterministic", "geometric"]:
        """How the number varies."""
        return self._get("distribution")  # type: ignore[no-any-return]


class Blocking(Part):
    """How processes block."""

    _names = ("mean_ms", "spread", "wake")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            mean_ms: float | None = None,
            spread: float | None = None,
            wake: Literal["interrupt", "process"] | None = None,
        ) -> None: ...

    @property
    def mean_ms(self) -> float:
        """The mean time until the event comes, in milliseconds."""
        return self._get("mean_ms")  # type: ignore[no-any-return]

    @property
    def spread(self) -> float:
        """Its standard deviation as a fraction of the mean: 1 for exponential times, 0 for constant ones, gamma-distributed otherwise."""
        return self._get("spread")  # type: ignore[no-any-return]

    @property
    def wake(self) -> Literal["interrupt", "process"]:
        """Who wakes the process up."""
        return self._get("wake")  # type: ignore[no-any-return]


class Bursts(Part):
    """A distribution of computing times: a histogram and an exponential tail."""

    _names = ("edges_ms", "shares", "tail_ms")
    _left_out = {"edges_ms": [], "shares": []}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            edges_ms: Iterable[float] | None = None,
            shares: Iterable[float] | None = None,
            tail_ms: float | None = None,
        ) -> None: ...

    @property
    def edges_ms(self) -> tuple[float, ...]:
        """The edges of the histogram's bins, in milliseconds, ascending."""
        return self._get("edges_ms")  # type: ignore[no-any-return]

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of bursts in each bin. What is missing to 1 lies beyond the last edge."""
        return self._get("shares")  # type: ignore[no-any-return]

    @property
    def tail_ms(self) -> float:
        """The mean excess of bursts beyond the last edge, in milliseconds."""
        return self._get("tail_ms")  # type: ignore[no-any-return]


class CacheLevel(Part):
    """The caches of one level and kind, one for each processor unless they share it."""

    _names = ("level", "kind", "kib", "line_bytes", "ways", "cycles", "shared", "replacement", "writes")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            level: int | None = None,
            kind: str | Mapping[str, Any] | None = None,
            kib: int | None = None,
            line_bytes: int | None = None,
            ways: int | None = None,
            cycles: int | None = None,
            shared: bool | None = None,
            replacement: Literal["lru", "fifo", "random", "tree-plru"] | None = None,
            writes: Literal["back", "through"] | None = None,
        ) -> None: ...

    @property
    def level(self) -> int:
        """1 is nearest to the processor."""
        return self._get("level")  # type: ignore[no-any-return]

    @property
    def kind(self) -> str | Mapping[str, Any]:
        """What it holds."""
        return self._get("kind")  # type: ignore[no-any-return]

    @property
    def kib(self) -> int:
        """Its size in KiB."""
        return self._get("kib")  # type: ignore[no-any-return]

    @property
    def line_bytes(self) -> int:
        """Bytes of a line."""
        return self._get("line_bytes")  # type: ignore[no-any-return]

    @property
    def ways(self) -> int:
        """Lines of a set; 1 is direct-mapped."""
        return self._get("ways")  # type: ignore[no-any-return]

    @property
    def cycles(self) -> int:
        """What a reference takes that it answers, in cycles."""
        return self._get("cycles")  # type: ignore[no-any-return]

    @property
    def shared(self) -> bool:
        """Whether all processors share one."""
        return self._get("shared")  # type: ignore[no-any-return]

    @property
    def replacement(self) -> Literal["lru", "fifo", "random", "tree-plru"]:
        """Which line of a set makes way."""
        return self._get("replacement")  # type: ignore[no-any-return]

    @property
    def writes(self) -> Literal["back", "through"]:
        """What a store does."""
        return self._get("writes")  # type: ignore[no-any-return]


class ClusterDispatch(Part):
    """The design of a node's parallel dispatch queue, and its parameters."""

    _names = ("design", "queues", "window", "id_bits")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            design: Literal["static-binding", "dynamic-binding", "dynamic-demultiplexing"] | None = None,
            queues: int | None = None,
            window: int | None = None,
            id_bits: int | None = None,
        ) -> None: ...

    @property
    def design(self) -> Literal["static-binding", "dynamic-binding", "dynamic-demultiplexing"]:
        """The design."""
        return self._get("design")  # type: ignore[no-any-return]

    @property
    def queues(self) -> int | None:
        """Of dynamic binding: how many queues."""
        return self._get("queues")  # type: ignore[no-any-return]

    @property
    def window(self) -> int | None:
        """Of dynamic demultiplexing: how many entries a search compares at most; all, if absent."""
        return self._get("window")  # type: ignore[no-any-return]

    @property
    def id_bits(self) -> int | None:
        """Of dynamic demultiplexing: how many bits of a block's number are compared; all, if absent."""
        return self._get("id_bits")  # type: ignore[no-any-return]


class ClusterMachine(Part):
    """The nodes of a cluster. Times are in cycles of 400 MHz."""

    _names = ("nodes", "processors", "block_bytes", "cache_bytes", "line_bytes", "block_buffer_bytes", "page_cache_pages", "memory", "network_cycles", "interrupt_cycles", "trap_cycles", "run_ahead", "limit_cycles")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            nodes: int | None = None,
            processors: int | None = None,
            block_bytes: int | None = None,
            cache_bytes: int | None = None,
            line_bytes: int | None = None,
            block_buffer_bytes: int | None = None,
            page_cache_pages: int | None = None,
            memory: Literal["interleaved", "single-bank"] | None = None,
            network_cycles: int | None = None,
            interrupt_cycles: int | None = None,
            trap_cycles: int | None = None,
            run_ahead: int | None = None,
            limit_cycles: int | None = None,
        ) -> None: ...

    @property
    def nodes(self) -> int:
        """How many nodes."""
        return self._get("nodes")  # type: ignore[no-any-return]

    @property
    def processors(self) -> int:
        """Processors of a node that compute."""
        return self._get("processors")  # type: ignore[no-any-return]

    @property
    def block_bytes(self) -> int:
        """Bytes of a block of the protocol."""
        return self._get("block_bytes")  # type: ignore[no-any-return]

    @property
    def cache_bytes(self) -> int:
        """Bytes of each processor's cache."""
        return self._get("cache_bytes")  # type: ignore[no-any-return]

    @property
    def line_bytes(self) -> int:
        """Bytes of a line of the caches."""
        return self._get("line_bytes")  # type: ignore[no-any-return]

    @property
    def block_buffer_bytes(self) -> int:
        """Bytes of a block buffer, which each protocol thread has."""
        return self._get("block_buffer_bytes")  # type: ignore[no-any-return]

    @property
    def page_cache_pages(self) -> int | None:
        """Frames for other nodes' pages in each node's memory; as many as there are such pages, if absent."""
        return self._get("page_cache_pages")  # type: ignore[no-any-return]

    @property
    def memory(self) -> Literal["interleaved", "single-bank"]:
        """How many accesses a node's memory serves at a time."""
        return self._get("memory")  # type: ignore[no-any-return]

    @property
    def network_cycles(self) -> int:
        """From one network interface to another."""
        return self._get("network_cycles")  # type: ignore[no-any-return]

    @property
    def interrupt_cycles(self) -> int:
        """From the invocation of an interrupt to the handler."""
        return self._get("interrupt_cycles")  # type: ignore[no-any-return]

    @property
    def trap_cycles(self) -> int:
        """From a bus error to the trap's code."""
        return self._get("trap_cycles")  # type: ignore[no-any-return]

    @property
    def run_ahead(self) -> int:
        """By how much a processor may run ahead of what else is to happen: 0 is exact, more is faster."""
        return self._get("run_ahead")  # type: ignore[no-any-return]

    @property
    def limit_cycles(self) -> int:
        """After how many cycles a program that has not ended is given up."""
        return self._get("limit_cycles")  # type: ignore[no-any-return]


class Effects(Part):
    """Costs in addition to those of a profile."""

    _names = ("checksum_ns_per_byte", "copy_ns_per_byte", "send_path", "map_lock_ns", "session_lock_ns", "decision_ns", "start_ns", "staleness_ns")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            checksum_ns_per_byte: float | None = None,
            copy_ns_per_byte: float | None = None,
            send_path: float | None = None,
            map_lock_ns: float | None = None,
            session_lock_ns: float | None = None,
            decision_ns: float | None = None,
            start_ns: float | None = None,
            staleness_ns: float | None = None,
        ) -> None: ...

    @property
    def checksum_ns_per_byte(self) -> float:
        """Checksumming a byte of a packet's data, in nanoseconds. Salehi 1994 gives 32 bytes per microsecond
        (§5): 31.25.
        """
        return self._get("checksum_ns_per_byte")  # type: ignore[no-any-return]

    @property
    def copy_ns_per_byte(self) -> float:
        """Copying a byte of a packet's data, which no cache holds yet, in nanoseconds."""
        return self._get("copy_ns_per_byte")  # type: ignore[no-any-return]

    @property
    def send_path(self) -> float:
        """Length of the send path as a fraction of the receive path without demultiplexing (§8
        conjectures that it is shorter).
        """
        return self._get("send_path")  # type: ignore[no-any-return]

    @property
    def map_lock_ns(self) -> float:
        """How long a packet holds the locks of the active maps, in nanoseconds. Only Locking has them; a packet
        takes them when service starts, first come first served.
        """
        return self._get("map_lock_ns")  # type: ignore[no-any-return]

    @property
    def session_lock_ns(self) -> float:
        """How long a packet holds the locks of its session, in nanoseconds, under the same rules."""
        return self._get("session_lock_ns")  # type: ignore[no-any-return]

    @property
    def decision_ns(self) -> float:
        """The cost of choosing a processor, in nanoseconds per packet, paid by the processor that processes it."""
        return self._get("decision_ns")  # type: ignore[no-any-return]

    @property
    def start_ns(self) -> float:
        """How long a processor that was doing other work takes to turn to a packet, in nanoseconds, in addition
        to the decision and to what the packet finds in cache. Negative, down to minus ``decision_ns``, if such
        a packet saves part of the decision.
        """
        return self._get("start_ns")  # type: ignore[no-any-return]

    @property
    def staleness_ns(self) -> float:
        """The age of the policy's view of other processors, in nanoseconds: it learns this much later that one
        has finished a packet. It knows its own decisions at once.
        """
        return self._get("staleness_ns")  # type: ignore[no-any-return]


class Ends(Part):
    """Weights of the ways in which bursts end. They need not add up to anything."""

    _names = ("block", "yield", "reschedule")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            block: float | None = None,
            reschedule: float | None = None,
            **keywords: Any,
        ) -> None: ...

    @property
    def block(self) -> float:
        """It waits for an event and leaves the queue."""
        return self._get("block")  # type: ignore[no-any-return]

    @property
    def yield_(self) -> float:
        """It fails to get a lock and gives the processor away."""
        return self._get("yield")  # type: ignore[no-any-return]

    @property
    def reschedule(self) -> float:
        """The kernel searches the queue before it goes on: system calls, TLB faults."""
        return self._get("reschedule")  # type: ignore[no-any-return]


class Footprint(Part):
    """The cached state of a process (Torrellas 1995, §3.1.1)."""

    _names = ("reload_misses", "reload_ms", "steady_misses_per_ms", "written", "invalidated_per_ms")
    _left_out = {"invalidated_per_ms": 0.0}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            reload_misses: float | None = None,
            reload_ms: float | None = None,
            steady_misses_per_ms: float | None = None,
            written: float | None = None,
            invalidated_per_ms: float | None = None,
        ) -> None: ...

    @property
    def reload_misses(self) -> float:
        """Misses until all that it reuses is in a cold cache."""
        return self._get("reload_misses")  # type: ignore[no-any-return]

    @property
    def reload_ms(self) -> float:
        """Computing time in milliseconds in which all but 1/e of that is loaded."""
        return self._get("reload_ms")  # type: ignore[no-any-return]

    @property
    def steady_misses_per_ms(self) -> float:
        """Misses besides, per millisecond of computing, in a warm cache too."""
        return self._get("steady_misses_per_ms")  # type: ignore[no-any-return]

    @property
    def written(self) -> float:
        """The part of its state that is written, and so becomes stale in other caches while it runs elsewhere."""
        return self._get("written")  # type: ignore[no-any-return]

    @property
    def invalidated_per_ms(self) -> float:
        """The rate at which what the application's processes write on other processors makes this state stale while it waits in a
        cache, per millisecond that they compute.
        """
        return self._get("invalidated_per_ms")  # type: ignore[no-any-return]


class Jobs(Part):
    """Work in jobs."""

    _names = ("count", "stages", "spread")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            count: int | None = None,
            stages: int | None = None,
            spread: float | None = None,
        ) -> None: ...

    @property
    def count(self) -> int:
        """How many there are."""
        return self._get("count")  # type: ignore[no-any-return]

    @property
    def stages(self) -> int:
        """How many processes work on a job, one after the other. Each is new: it has used no CPU time and has nothing in
        any cache.
        """
        return self._get("stages")  # type: ignore[no-any-return]

    @property
    def spread(self) -> float:
        """Standard deviation of a job's work, as a fraction of its mean."""
        return self._get("spread")  # type: ignore[no-any-return]


class Live(Part):
    """How a scenario is run on this machine. The simulator uses only the costs of a packet beyond its
    reception.
    """

    _names = ("driver", "interface", "address", "port", "transport", "cpus", "seconds", "mode", "work_kib", "payload_bytes", "verify_udp_checksum", "handler_ns", "handler_bytes", "reply_bytes", "capacity", "overload", "shutdown")
    _left_out = {"cpus": [], "handler_bytes": 0, "reply_bytes": 0}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            driver: Literal["memory", "packet-socket", "xdp", "tun", "udp-socket", "tcp-socket"] | None = None,
            interface: str | None = None,
            address: str | None = None,
            port: int | None = None,
            transport: Literal["udp", "tcp", "rpc"] | None = None,
            cpus: Iterable[int] | None = None,
            seconds: float | None = None,
            mode: Literal["floating", "fixed"] | None = None,
            work_kib: int | None = None,
            payload_bytes: int | None = None,
            verify_udp_checksum: bool | None = None,
            handler_ns: float | None = None,
            handler_bytes: int | None = None,
            reply_bytes: int | None = None,
            capacity: int | None = None,
            overload: Literal["drop", "hold-back"] | None = None,
            shutdown: Literal["drain", "discard"] | None = None,
        ) -> None: ...

    @property
    def driver(self) -> Literal["memory", "packet-socket", "xdp", "tun", "udp-socket", "tcp-socket"]:
        """Where frames come from."""
        return self._get("driver")  # type: ignore[no-any-return]

    @property
    def interface(self) -> str | None:
        """The interface of a driver that has one."""
        return self._get("interface")  # type: ignore[no-any-return]

    @property
    def address(self) -> str | None:
        """The IPv4 address to answer for on that interface."""
        return self._get("address")  # type: ignore[no-any-return]

    @property
    def port(self) -> int:
        """The port to receive on."""
        return self._get("port")  # type: ignore[no-any-return]

    @property
    def transport(self) -> Literal["udp", "tcp", "rpc"] | None:
        """What packets carry above IP: datagrams, connections, or remote procedure calls over UDP."""
        return self._get("transport")  # type: ignore[no-any-return]

    @property
    def cpus(self) -> tuple[int, ...]:
        """Numbers of the processors to run on; empty for the first usable ones, one per core."""
        return self._get("cpus")  # type: ignore[no-any-return]

    @property
    def seconds(self) -> float:
        """How long to run, in seconds."""
        return self._get("seconds")  # type: ignore[no-any-return]

    @property
    def mode(self) -> Literal["floating", "fixed"]:
        """What processors without a packet do."""
        return self._get("mode")  # type: ignore[no-any-return]

    @property
    def work_kib(self) -> int:
        """Data touched by the other work of floating processors, in KiB. With 0 there is no other work, and
        they sleep.
        """
        return self._get("work_kib")  # type: ignore[no-any-return]

    @property
    def payload_bytes(self) -> int:
        """Bytes of data in a packet of the memory driver."""
        return self._get("payload_bytes")  # type: ignore[no-any-return]

    @property
    def verify_udp_checksum(self) -> bool:
        """Whether UDP checksums are verified in software."""
        return self._get("verify_udp_checksum")  # type: ignore[no-any-return]

    @property
    def handler_ns(self) -> float:
        """How long the handler of each packet computes, in nanoseconds."""
        return self._get("handler_ns")  # type: ignore[no-any-return]

    @property
    def handler_bytes(self) -> int:
        """Bytes of the stream's own memory that the handler reads and writes for each packet."""
        return self._get("handler_bytes")  # type: ignore[no-any-return]

    @property
    def reply_bytes(self) -> int:
        """Bytes of the handler's answer to each packet of the memory driver. Over a network the handler sends back
        what it received.
        """
        return self._get("reply_bytes")  # type: ignore[no-any-return]

    @property
    def capacity(self) -> int:
        """The most packets held, waiting and in service."""
        return self._get("capacity")  # type: ignore[no-any-return]

    @property
    def overload(self) -> Literal["drop", "hold-back"]:
        """What happens to packets beyond that."""
        return self._get("overload")  # type: ignore[no-any-return]

    @property
    def shutdown(self) -> Literal["drain", "discard"]:
        """What happens to packets still held at the end."""
        return self._get("shutdown")  # type: ignore[no-any-return]


class Lock(Part):
    """What a process that yields waits for."""

    _names = ("held", "retry_ms")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            held: float | None = None,
            retry_ms: float | None = None,
        ) -> None: ...

    @property
    def held(self) -> float:
        """The chance that the lock is held by another process of the application, drawn evenly, so that the yielding one cannot go
        on before that has run. Otherwise it can go on when it is next picked.
        """
        return self._get("held")  # type: ignore[no-any-return]

    @property
    def retry_ms(self) -> float:
        """How long a process that is picked too early tries before it yields again, in milliseconds."""
        return self._get("retry_ms")  # type: ignore[no-any-return]


class MachineCaches(Part):
    """The caches of every processor, through which ``References`` go."""

    _names = ("of", "mhz", "memory_cycles", "levels")
    _lists = {"levels": "CacheLevel"}
    _left_out = {"levels": []}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            of: str | Mapping[str, Any] | None = None,
            mhz: float | None = None,
            memory_cycles: int | None = None,
            levels: Iterable[CacheLevel | Mapping[str, Any]] | None = None,
        ) -> None: ...

    @property
    def of(self) -> str | Mapping[str, Any] | None:
        """The machine whose caches these are, instead of ``levels``."""
        return self._get("of")  # type: ignore[no-any-return]

    @property
    def mhz(self) -> float | None:
        """The clock of the processors, in MHz. Of a known machine, its own."""
        return self._get("mhz")  # type: ignore[no-any-return]

    @property
    def memory_cycles(self) -> int | None:
        """What a reference takes that no cache answers, in cycles. Of a known machine, its own."""
        return self._get("memory_cycles")  # type: ignore[no-any-return]

    @property
    def levels(self) -> tuple[CacheLevel, ...]:
        """The caches on a processor's way to memory."""
        return self._get("levels")  # type: ignore[no-any-return]


class MemoryPart(Part):
    """A part of memory."""

    _names = ("kib", "share", "pattern", "element_bytes", "stores", "shared", "code")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            kib: float | None = None,
            share: float | None = None,
            pattern: str | Mapping[str, Any] | None = None,
            element_bytes: int | None = None,
            stores: float | None = None,
            shared: bool | None = None,
            code: bool | None = None,
        ) -> None: ...

    @property
    def kib(self) -> float:
        """Its size in KiB; a fraction if it is smaller."""
        return self._get("kib")  # type: ignore[no-any-return]

    @property
    def share(self) -> float:
        """How often it is referred to: weights, which need not add up to anything."""
        return self._get("share")  # type: ignore[no-any-return]

    @property
    def pattern(self) -> str | Mapping[str, Any]:
        """How a process goes through it."""
        return self._get("pattern")  # type: ignore[no-any-return]

    @property
    def element_bytes(self) -> int:
        """What is referred to at a time, in bytes: a power of two."""
        return self._get("element_bytes")  # type: ignore[no-any-return]

    @property
    def stores(self) -> float:
        """The share of references that are stores."""
        return self._get("stores")  # type: ignore[no-any-return]

    @property
    def shared(self) -> bool:
        """Whether all processes of the application share it."""
        return self._get("shared")  # type: ignore[no-any-return]

    @property
    def code(self) -> bool:
        """Whether it is code: fetched, and shared by all processes of the application."""
        return self._get("code")  # type: ignore[no-any-return]


class QueueTable(Part):
    """How many packets may wait: the ``[queues]`` table of a scenario."""

    _names = ("limit", "scope")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            limit: int | None = None,
            scope: Literal["each", "host"] | None = None,
        ) -> None: ...

    @property
    def limit(self) -> int | None:
        """This many, not counting those in service; a packet that finds them waiting is lost. Without it, all may wait."""
        return self._get("limit")  # type: ignore[no-any-return]

    @property
    def scope(self) -> Literal["each", "host"]:
        """Which queues the limit counts."""
        return self._get("scope")  # type: ignore[no-any-return]


class RecordedDelays(Part):
    """Scheduling delays of an application's threads in a recording: from being woken up, or being new, to running."""

    _names = ("count", "mean_ms", "longest_ms")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            count: int | None = None,
            mean_ms: float | None = None,
            longest_ms: float | None = None,
        ) -> None: ...

    @property
    def count(self) -> int:
        """How many there were."""
        return self._get("count")  # type: ignore[no-any-return]

    @property
    def mean_ms(self) -> float:
        """Their mean in milliseconds."""
        return self._get("mean_ms")  # type: ignore[no-any-return]

    @property
    def longest_ms(self) -> float:
        """The longest in milliseconds."""
        return self._get("longest_ms")  # type: ignore[no-any-return]


class RecordedFigures(Part):
    """Figures of a recording. A simulation under the scheduler of the recording should come near them."""

    _names = ("seconds", "utilisation", "dispatches", "migrations")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            seconds: float | None = None,
            utilisation: float | None = None,
            dispatches: int | None = None,
            migrations: int | None = None,
        ) -> None: ...

    @property
    def seconds(self) -> float:
        """How long was recorded."""
        return self._get("seconds")  # type: ignore[no-any-return]

    @property
    def utilisation(self) -> float:
        """The share of the processors' time in which threads ran."""
        return self._get("utilisation")  # type: ignore[no-any-return]

    @property
    def dispatches(self) -> int:
        """How often a thread began to run."""
        return self._get("dispatches")  # type: ignore[no-any-return]

    @property
    def migrations(self) -> int:
        """How often it had last run on another processor."""
        return self._get("migrations")  # type: ignore[no-any-return]


class RecordedThread(Part):
    """A recorded thread."""

    _names = ("nice", "group", "attached", "cpu", "steps")
    _left_out = {"group": 0}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            nice: int | None = None,
            group: int | None = None,
            attached: int | None = None,
            cpu: int | None = None,
            steps: str | Mapping[str, Any] | None = None,
        ) -> None: ...

    @property
    def nice(self) -> int | None:
        """Its nice value when it was first seen."""
        return self._get("nice")  # type: ignore[no-any-return]

    @property
    def group(self) -> int:
        """Its group; 0 if it is in none."""
        return self._get("group")  # type: ignore[no-any-return]

    @property
    def attached(self) -> int | None:
        """The only cpu that it may run on."""
        return self._get("attached")  # type: ignore[no-any-return]

    @property
    def cpu(self) -> int | None:
        """Where it last ran before the recording."""
        return self._get("cpu")  # type: ignore[no-any-return]

    @property
    def steps(self) -> str | Mapping[str, Any]:
        """What it did."""
        return self._get("steps")  # type: ignore[no-any-return]


class References(Part):
    """What a process refers to while it computes.

    References come evenly spaced. Each is to one of the parts, drawn by their shares. Where the pages of a part lie is
    drawn too, so that the sets of caches are hit as evenly as chance has it.
    """

    _names = ("per_us", "parts")
    _lists = {"parts": "MemoryPart"}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            per_us: float | None = None,
            parts: Iterable[MemoryPart | Mapping[str, Any]] | None = None,
        ) -> None: ...

    @property
    def per_us(self) -> float:
        """References per microsecond of computing."""
        return self._get("per_us")  # type: ignore[no-any-return]

    @property
    def parts(self) -> tuple[MemoryPart, ...]:
        """The parts of memory."""
        return self._get("parts")  # type: ignore[no-any-return]


class RunLength(Part):
    """How long a point is simulated."""

    _names = ("precision", "max_packets", "replications", "packets", "warmup_packets")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            precision: float | None = None,
            max_packets: int | None = None,
            replications: int | None = None,
            packets: int | None = None,
            warmup_packets: int | None = None,
        ) -> None: ...

    @property
    def precision(self) -> float:
        """The target half-width of the mean delay, as a fraction of the mean."""
        return self._get("precision")  # type: ignore[no-any-return]

    @property
    def max_packets(self) -> int:
        """The most packets of a replication."""
        return self._get("max_packets")  # type: ignore[no-any-return]

    @property
    def replications(self) -> int:
        """The number of independent replications, which run in parallel."""
        return self._get("replications")  # type: ignore[no-any-return]

    @property
    def packets(self) -> int | None:
        """Exactly this many packets in each replication, whatever the precision; ``None`` to stop at the precision."""
        return self._get("packets")  # type: ignore[no-any-return]

    @property
    def warmup_packets(self) -> int | None:
        """Packets left out at the start of each replication, rounded up to whole batches (at most a 256th of the
        run); ``None`` to find where the steady state begins.
        """
        return self._get("warmup_packets")  # type: ignore[no-any-return]


class RunQueueMachine(Part):
    """Processors with private caches, and what the kernel costs."""

    _names = ("cpus", "miss_ns", "bus_ns", "displacing_misses", "reschedule_us", "interrupt_cpu", "interrupt_us", "interrupt_misses", "caches")
    _parts = {"caches": "MachineCaches"}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            cpus: int | None = None,
            miss_ns: float | None = None,
            bus_ns: float | None = None,
            displacing_misses: float | None = None,
            reschedule_us: float | None = None,
            interrupt_cpu: int | None = None,
            interrupt_us: float | None = None,
            interrupt_misses: float | None = None,
            caches: MachineCaches | Mapping[str, Any] | None = None,
        ) -> None: ...

    @property
    def cpus(self) -> int:
        """The number of processors."""
        return self._get("cpus")  # type: ignore[no-any-return]

    @property
    def miss_ns(self) -> float:
        """What a cache miss costs, in nanoseconds."""
        return self._get("miss_ns")  # type: ignore[no-any-return]

    @property
    def bus_ns(self) -> float:
        """How long a miss occupies the bus that all processors share, in nanoseconds. Misses of others then make a miss wait. Without
        it, every miss costs ``miss_ns``.
        """
        return self._get("bus_ns")  # type: ignore[no-any-return]

    @property
    def displacing_misses(self) -> float:
        """How many misses displace all but 1/e of another process's cached state: the lines of the cache, if their
        addresses spread evenly.
        """
        return self._get("displacing_misses")  # type: ignore[no-any-return]

    @property
    def reschedule_us(self) -> float:
        """Searching the queue and switching to the process found, in microseconds."""
        return self._get("reschedule_us")  # type: ignore[no-any-return]

    @property
    def interrupt_cpu(self) -> int:
        """The processor that takes the interrupts by which processes wake up."""
        return self._get("interrupt_cpu")  # type: ignore[no-any-return]

    @property
    def interrupt_us(self) -> float:
        """What such an interrupt takes from the process that runs there, in microseconds."""
        return self._get("interrupt_us")  # type: ignore[no-any-return]

    @property
    def interrupt_misses(self) -> float:
        """The misses of such an interrupt."""
        return self._get("interrupt_misses")  # type: ignore[no-any-return]

    @property
    def caches(self) -> MachineCaches | None:
        """Its caches, if references go through simulated ones. What misses cost and displace comes from them then."""
        return self._get("caches")  # type: ignore[no-any-return]


class Scheduler(Part):
    """The scheduler as the document has it. What is absent has its kind's default; a constant of the other kind is refused."""

    _names = ("kind", "tick_ms", "attach", "quantum_ms", "quantum_by_ticks", "a_p", "a_t", "complex", "decay_ms", "decay_to", "decay_spares_old", "cap", "exclude_yielder", "slice_ms", "migration_cost_ms", "run_to_parity", "wakeup_preemption", "delay_dequeue")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            kind: Literal["unix", "fair"] | None = None,
            tick_ms: float | None = None,
            attach: Literal["none", "round-robin", "inherited", "random"] | None = None,
            quantum_ms: float | None = None,
            quantum_by_ticks: bool | None = None,
            a_p: int | None = None,
            a_t: int | None = None,
            complex: bool | None = None,
            decay_ms: float | None = None,
            decay_to: float | None = None,
            decay_spares_old: float | None = None,
            cap: int | None = None,
            exclude_yielder: bool | None = None,
            slice_ms: float | None = None,
            migration_cost_ms: float | None = None,
            run_to_parity: bool | None = None,
            wakeup_preemption: bool | None = None,
            delay_dequeue: bool | None = None,
        ) -> None: ...

    @property
    def kind(self) -> Literal["unix", "fair"]:
        """A field of the document."""
        return self._get("kind")  # type: ignore[no-any-return]

    @property
    def tick_ms(self) -> float | None:
        """Time between two timer interrupts of a processor, in milliseconds: slices end there."""
        return self._get("tick_ms")  # type: ignore[no-any-return]

    @property
    def attach(self) -> Literal["none", "round-robin", "inherited", "random"]:
        """Which processes are fixed to a processor."""
        return self._get("attach")  # type: ignore[no-any-return]

    @property
    def quantum_ms(self) -> float | None:
        """The longest time that a process runs before the queue is searched again, in milliseconds."""
        return self._get("quantum_ms")  # type: ignore[no-any-return]

    @property
    def quantum_by_ticks(self) -> bool | None:
        """Whether a quantum ends with a timer interrupt, its first tick being the one it begins in, instead of after its whole
        length. Open.
        """
        return self._get("quantum_by_ticks")  # type: ignore[no-any-return]

    @property
    def a_p(self) -> int | None:
        """Taken off the priority of processes that last ran on the searching processor."""
        return self._get("a_p")  # type: ignore[no-any-return]

    @property
    def a_t(self) -> int | None:
        """Taken off besides for the process that ran there last."""
        return self._get("a_t")  # type: ignore[no-any-return]

    @property
    def complex(self) -> bool | None:
        """Whether ``a_t`` fades with the ticks since a process ran there, instead (§5.4)."""
        return self._get("complex")  # type: ignore[no-any-return]

    @property
    def decay_ms(self) -> float | None:
        """Time between two decays of the accumulated CPU time, in milliseconds. Open."""
        return self._get("decay_ms")  # type: ignore[no-any-return]

    @property
    def decay_to(self) -> float | None:
        """The fraction of it that a decay leaves. Open."""
        return self._get("decay_to")  # type: ignore[no-any-return]

    @property
    def decay_spares_old(self) -> float | None:
        """The part of a decay that processes older than five seconds escape. Open: Torrellas 1995, §5.1, says that with affinity
        a decay raises the priorities of long-running processes less.
        """
        return self._get("decay_spares_old")  # type: ignore[no-any-return]

    @property
    def cap(self) -> int | None:
        """The most CPU time that a process accumulates, in ticks. Open."""
        return self._get("cap")  # type: ignore[no-any-return]

    @property
    def exclude_yielder(self) -> bool | None:
        """Whether a process that yielded on a lock is left out of the next search of its processor."""
        return self._get("exclude_yielder")  # type: ignore[no-any-return]

    @property
    def slice_ms(self) -> float | None:
        """How long a process runs before another's virtual deadline may be earlier, in milliseconds (``base_slice_ns``). Without
        it, Linux's: 0.7 ms times 1 + log2 of the processors, of which at most 8 count.
        """
        return self._get("slice_ms")  # type: ignore[no-any-return]

    @property
    def migration_cost_ms(self) -> float | None:
        """A process that ran less than this ago, in milliseconds, is not moved to balance load (``migration_cost_ns``)."""
        return self._get("migration_cost_ms")  # type: ignore[no-any-return]

    @property
    def run_to_parity(self) -> bool | None:
        """Whether who runs is protected until its slice is over."""
        return self._get("run_to_parity")  # type: ignore[no-any-return]

    @property
    def wakeup_preemption(self) -> bool | None:
        """Whether a process that wakes up may take the processor from who runs."""
        return self._get("wakeup_preemption")  # type: ignore[no-any-return]

    @property
    def delay_dequeue(self) -> bool | None:
        """Whether a process that blocks after more than its share stays in its queue until others have caught up (since 6.12)."""
        return self._get("delay_dequeue")  # type: ignore[no-any-return]


class Scheduling(Part):
    """One way to run protocol work."""

    _names = ("approach", "policy", "queue", "threads", "thread_order", "memory")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            approach: Literal["locking", "ips", "hybrid"] | None = None,
            policy: Literal["mru", "lru", "wired-streams", "hash", "hash-stealing", "shortest-queue", "power-of-two", "central-queue", "patient", "adaptive"] | None = None,
            queue: Literal["fifo", "same-stream-first"] | None = None,
            threads: Literal["per-processor", "global"] | None = None,
            thread_order: Literal["opposite", "mru", "lru"] | None = None,
            memory: Literal["per-processor", "global"] | None = None,
        ) -> None: ...

    @property
    def approach(self) -> Literal["locking", "ips", "hybrid"]:
        """How processing is made parallel."""
        return self._get("approach")  # type: ignore[no-any-return]

    @property
    def policy(self) -> Literal["mru", "lru", "wired-streams", "hash", "hash-stealing", "shortest-queue", "power-of-two", "central-queue", "patient", "adaptive"]:
        """How a processor is chosen."""
        return self._get("policy")  # type: ignore[no-any-return]

    @property
    def queue(self) -> Literal["fifo", "same-stream-first"]:
        """Which waiting packet a processor takes."""
        return self._get("queue")  # type: ignore[no-any-return]

    @property
    def threads(self) -> Literal["per-processor", "global"]:
        """Organisation of protocol threads."""
        return self._get("threads")  # type: ignore[no-any-return]

    @property
    def thread_order(self) -> Literal["opposite", "mru", "lru"]:
        """Order in which a global thread pool hands out threads."""
        return self._get("thread_order")  # type: ignore[no-any-return]

    @property
    def memory(self) -> Literal["per-processor", "global"]:
        """Organisation of free memory."""
        return self._get("memory")  # type: ignore[no-any-return]


class Service(Part):
    """How service times vary: the ``[service]`` table of a scenario."""

    _names = ("distribution",)

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            distribution: str | Mapping[str, Any] | None = None,
        ) -> None: ...

    @property
    def distribution(self) -> str | Mapping[str, Any]:
        """Their distribution around the costs of a packet."""
        return self._get("distribution")  # type: ignore[no-any-return]


class Size(Part):
    """One size in an empirical distribution."""

    _names = ("bytes", "weight")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            bytes: int | None = None,
            weight: float | None = None,
        ) -> None: ...

    @property
    def bytes(self) -> int:
        """Bytes in the packet."""
        return self._get("bytes")  # type: ignore[no-any-return]

    @property
    def weight(self) -> float:
        """The frequency of this size, relative to the others."""
        return self._get("weight")  # type: ignore[no-any-return]


class Traffic(Part):
    """The arriving traffic, except for its rate. The default is that of Salehi 1994: single packets of 8
    equal streams, at random.
    """

    _names = ("streams", "popularity", "process", "batch", "sizes", "send_fraction")
    _parts = {"batch": "Batch"}
    _lists = {"sizes": "Size"}
    _left_out = {"batch": {"mean": 1.0, "distribution": "deterministic"}, "sizes": [], "send_fraction": 0.0}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            streams: int | None = None,
            popularity: str | Mapping[str, Any] | None = None,
            process: str | Mapping[str, Any] | None = None,
            batch: Batch | Mapping[str, Any] | None = None,
            sizes: Iterable[Size | Mapping[str, Any]] | None = None,
            send_fraction: float | None = None,
        ) -> None: ...

    @property
    def streams(self) -> int:
        """Number of streams; not used for a trace, which has its own."""
        return self._get("streams")  # type: ignore[no-any-return]

    @property
    def popularity(self) -> str | Mapping[str, Any]:
        """How the traffic is divided among the streams: ``"uniform"``, or ``{ zipf = s }``."""
        return self._get("popularity")  # type: ignore[no-any-return]

    @property
    def process(self) -> str | Mapping[str, Any]:
        """When packets arrive."""
        return self._get("process")  # type: ignore[no-any-return]

    @property
    def batch(self) -> Batch:
        """How many packets of one stream arrive together, under the Poisson, constant and modulated processes."""
        return self._get("batch")  # type: ignore[no-any-return]

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of packets, in bytes, with weights. If empty, a trace has its own sizes and other packets
        have none.
        """
        return self._get("sizes")  # type: ignore[no-any-return]

    @property
    def send_fraction(self) -> float:
        """The fraction of packets that are sent rather than received. If it is 0, a trace keeps its recorded
        directions.
        """
        return self._get("send_fraction")  # type: ignore[no-any-return]


class PacketScenario(Scenario):
    """Packets on the processors of one host: what arrives, which processor takes it, and what that costs.

    The model of Salehi, Kurose & Towsley 1994, with extensions. Names that end in ``_ns``, ``_us`` or ``_ms`` are times, those in
    ``_per_s`` rates; fractions are from 0 to 1. ``wc.simulate``, ``wc.observe`` and ``wc.capacity`` take it.
    """

    kind: ClassVar[str] = "packet"
    _names = ("seed", "profile", "processors", "speeds", "stacks", "priorities", "rate_per_s", "scheduling", "traffic", "effects", "service", "queues", "run", "live")
    _parts = {"scheduling": "Scheduling", "traffic": "Traffic", "effects": "Effects", "service": "Service", "queues": "QueueTable", "run": "RunLength", "live": "Live"}
    _left_out = {"speeds": [], "priorities": [], "service": {}, "queues": {}, "live": {}}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            seed: int | None = None,
            profile: str | None = None,
            processors: int | None = None,
            speeds: Iterable[float] | None = None,
            stacks: int | Literal["per-processor", "per-stream"] | None = None,
            priorities: Iterable[int] | None = None,
            rate_per_s: float | None = None,
            scheduling: Scheduling | Mapping[str, Any] | None = None,
            traffic: Traffic | Mapping[str, Any] | None = None,
            effects: Effects | Mapping[str, Any] | None = None,
            service: Service | Mapping[str, Any] | None = None,
            queues: QueueTable | Mapping[str, Any] | None = None,
            run: RunLength | Mapping[str, Any] | None = None,
            live: Live | Mapping[str, Any] | None = None,
        ) -> None: ...

    @property
    def seed(self) -> int:
        """Seed of every random choice."""
        return self._get("seed")  # type: ignore[no-any-return]

    @property
    def profile(self) -> str:
        """The profile with the costs of processing: ``"sgi-challenge-xl"`` or the path of a profile."""
        return self._get("profile")  # type: ignore[no-any-return]

    @property
    def processors(self) -> int:
        """The number of processors, and of protocol threads."""
        return self._get("processors")  # type: ignore[no-any-return]

    @property
    def speeds(self) -> tuple[float, ...]:
        """How fast each processor is: one of speed 0.5 takes twice as long for the same work. Left out of a document if all
        have speed 1.
        """
        return self._get("speeds")  # type: ignore[no-any-return]

    @property
    def stacks(self) -> int | Literal["per-processor", "per-stream"]:
        """The number of independent stacks under IPS."""
        return self._get("stacks")  # type: ignore[no-any-return]

    @property
    def priorities(self) -> tuple[int, ...]:
        """How many streams belong to each class, the most urgent one first; the streams left over are one more class, the least
        urgent. A processor takes the packet that has waited longest of the most urgent class in its queue. Left out of a
        document if there is one class.
        """
        return self._get("priorities")  # type: ignore[no-any-return]

    @property
    def rate_per_s(self) -> float | None:
        """Packets per second. Without it, a trace keeps its own rate."""
        return self._get("rate_per_s")  # type: ignore[no-any-return]

    @property
    def scheduling(self) -> Scheduling:
        """Where packets are processed."""
        return self._get("scheduling")  # type: ignore[no-any-return]

    @property
    def traffic(self) -> Traffic:
        """What arrives."""
        return self._get("traffic")  # type: ignore[no-any-return]

    @property
    def effects(self) -> Effects:
        """Costs that the model of Salehi 1994 leaves out."""
        return self._get("effects")  # type: ignore[no-any-return]

    @property
    def service(self) -> Service:
        """How service times vary around the costs. Left out of a document if they do not."""
        return self._get("service")  # type: ignore[no-any-return]

    @property
    def queues(self) -> QueueTable:
        """How many packets may wait. Left out of a document if all may."""
        return self._get("queues")  # type: ignore[no-any-return]

    @property
    def run(self) -> RunLength:
        """How long to simulate."""
        return self._get("run")  # type: ignore[no-any-return]

    @property
    def live(self) -> Live:
        """How to run it on this machine. Left out of a document if all settings are defaults."""
        return self._get("live")  # type: ignore[no-any-return]


class RunQueueScenario(Scenario):
    """Processes in the run queues of one machine: what they do, and how its scheduler places them.

    The model of Torrellas, Tucker & Gupta 1995, and Linux's fair scheduler. Names that end in ``_us`` or ``_ms`` are times.
    ``wc.simulate`` takes it.
    """

    kind: ClassVar[str] = "run-queue"
    _names = ("name", "seed", "runs", "seconds", "machine", "scheduler", "recorded", "applications")
    _parts = {"machine": "RunQueueMachine", "scheduler": "Scheduler", "recorded": "RecordedFigures"}
    _lists = {"applications": "Application"}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            name: str | None = None,
            seed: int | None = None,
            runs: int | None = None,
            seconds: float | None = None,
            machine: RunQueueMachine | Mapping[str, Any] | None = None,
            scheduler: Scheduler | Mapping[str, Any] | None = None,
            recorded: RecordedFigures | Mapping[str, Any] | None = None,
            applications: Iterable[Application | Mapping[str, Any]] | None = None,
        ) -> None: ...

    @property
    def name(self) -> str:
        """Name of the mix, for reports."""
        return self._get("name")  # type: ignore[no-any-return]

    @property
    def seed(self) -> int:
        """Seed of every random choice."""
        return self._get("seed")  # type: ignore[no-any-return]

    @property
    def runs(self) -> int:
        """The number of independent runs, from which the intervals come."""
        return self._get("runs")  # type: ignore[no-any-return]

    @property
    def seconds(self) -> float | None:
        """Simulated time in seconds. Without it, a run lasts until all work is done."""
        return self._get("seconds")  # type: ignore[no-any-return]

    @property
    def machine(self) -> RunQueueMachine:
        """The processors and their caches."""
        return self._get("machine")  # type: ignore[no-any-return]

    @property
    def scheduler(self) -> Scheduler:
        """Who runs next."""
        return self._get("scheduler")  # type: ignore[no-any-return]

    @property
    def recorded(self) -> RecordedFigures | None:
        """What was recorded, if the scenario is of that origin: what a simulation is compared with."""
        return self._get("recorded")  # type: ignore[no-any-return]

    @property
    def applications(self) -> tuple[Application, ...]:
        """What runs."""
        return self._get("applications")  # type: ignore[no-any-return]


class ClusterScenario(Scenario):
    """A cluster of machines that run one program over a network, and where protocols run in it.

    The model of Falsafi 1998. Times are in cycles of 400 MHz. ``wc.simulate`` takes it.
    """

    kind: ClassVar[str] = "cluster"
    _names = ("name", "machine", "device", "dispatch", "program", "microbenchmark")
    _parts = {"machine": "ClusterMachine", "dispatch": "ClusterDispatch"}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            name: str | None = None,
            machine: ClusterMachine | Mapping[str, Any] | None = None,
            device: str | Mapping[str, Any] | None = None,
            dispatch: ClusterDispatch | Mapping[str, Any] | None = None,
            program: str | Mapping[str, Any] | None = None,
            microbenchmark: str | Mapping[str, Any] | None = None,
        ) -> None: ...

    @property
    def name(self) -> str:
        """Name of the cluster, for reports."""
        return self._get("name")  # type: ignore[no-any-return]

    @property
    def machine(self) -> ClusterMachine:
        """Nodes, processors, caches and memory."""
        return self._get("machine")  # type: ignore[no-any-return]

    @property
    def device(self) -> str | Mapping[str, Any]:
        """What executes the protocol on each node."""
        return self._get("device")  # type: ignore[no-any-return]

    @property
    def dispatch(self) -> ClusterDispatch | None:
        """How the device's events are demultiplexed; one queue that is searched, if absent."""
        return self._get("dispatch")  # type: ignore[no-any-return]

    @property
    def program(self) -> str | Mapping[str, Any] | None:
        """What all processors run, with its input."""
        return self._get("program")  # type: ignore[no-any-return]

    @property
    def microbenchmark(self) -> str | Mapping[str, Any] | None:
        """What they run instead."""
        return self._get("microbenchmark")  # type: ignore[no-any-return]
