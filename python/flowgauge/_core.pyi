"""The Rust half of Flowgauge, as Python sees it. Used by `flowgauge.testbed` and `flowgauge.duts`; benchmarks never need it.

Times are nanoseconds on the tester's clock. Errors are those of `flowgauge.errors`. Calls that wait release the GIL.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flowgauge.flows import FlowOrder, FlowSet, Frames, Schedule

__version__: str

def now() -> int:
    """The tester's clock."""

def check_model(json: str) -> str:
    """A device model, given as JSON, as JSON with every parameter. Raises ConfigError that names the key."""

def error_classes() -> list[tuple[str, str]]:
    """The core's stable error names and the Python class of each, for the test that all classes exist."""

def flow_values(flows: FlowSet) -> list[dict[str, int]]:
    """Each flow's values by field, for tests of the seam."""

class Port:
    """A tester port. Empty while a transmission or a switch has it."""

    def longest_frame(self) -> int | None:
        """The longest frame that it takes, in bytes without FCS; None while in use."""
    def describe(self) -> str:
        """`ring`, `af_packet veth1`; empty while in use."""
    def link_mbps(self) -> int | None:
        """Speed of the link."""
    def timestamps(self) -> str:
        """Where its frames are stamped: "user transmit (kernel samples), kernel receive"; empty while in use."""
    def counters(self) -> dict[str, int]:
        """`tx_frames`, `tx_errors`, `rx_frames`, `rx_dropped` since it was opened, and the backend's own; empty while in use."""
    @property
    def queues(self) -> int:
        """How many queues it has handles for, each of which another worker may serve; 1 where one serves all that there are."""
    def close(self) -> None:
        """Close it."""

def ring_pair(slots: int) -> tuple[Port, Port]:
    """Two connected in-process ports."""

def open_pcap(path: str) -> Port:
    """A capture file that becomes what is sent: pcap if its name ends so, else pcapng. Raises SetupError."""

def open_af_packet(
    interface: str,
    netns: str | None = None,
    *,
    queues: int = 1,
    ring_mib: int | None = None,
    receive: bool = True,
) -> Port:
    """A Linux interface; with several `queues`, the kernel spreads flows over as many receive rings.

    Raises InterfaceError, PermissionNeededError.
    """

def open_af_xdp(
    interface: str,
    netns: str | None = None,
    *,
    queues: int | None = None,
    copy: str = "auto",
    busy_poll_us: int | None = None,
    receive: bool = True,
    steer_udp_port: int | None = None,
) -> Port:
    """A Linux interface by AF_XDP sockets on all its queues, served together, or on the first `queues`, each by itself.

    `copy`: "auto", "zero-copy" (an error where the driver can't), "copy". `busy_poll_us`: the tester runs the driver itself. `receive`
    False: no program is attached. `steer_udp_port`: frames other than UDP to that port stay with the kernel.
    Raises InterfaceError, PermissionNeededError, TooFewQueuesError, SetupError (names `port-unsupported`, `memory-limit`).
    """

def open_dpdk(
    device: str,
    netns: str | None = None,
    *,
    queues: int = 1,
    mtu: int | None = None,
    link_wait_s: float = 10.0,
    memory_mib: int = 256,
    hugepages: str = "auto",
    file_prefix: str | None = None,
    cores: Sequence[int] = (),
    shim_path: str | Path | None = None,
) -> Port:
    """A device that DPDK drives, by its arguments: `net_null0`, `0000:03:00.0`. `queues`: pairs of a receive and a transmit queue.

    Waits for its link (unless `link_wait_s` is 0), which is the other side's connection for a vhost-user socket. DPDK starts with the
    first device, once per process: that one's `memory_mib`, `hugepages` ("auto", "yes", "no"), `file_prefix` and `cores` hold for all.
    Raises DpdkMissingError, DpdkError, TooFewQueuesError, HugepagesError.
    """

def dpdk_version(shim_path: str | Path | None = None) -> str:
    """DPDK's version, without starting it. Raises DpdkMissingError."""

def impaired(port: Port, delay_ns: int, loss_one_in: int | None) -> Port:
    """The port with a delay line and a known loss on receipt; `port` is empty afterwards."""

def measure_loopback(
    ports: Sequence[Port], sizes: Sequence[int], *, core: int | None, trial_ns: int
) -> tuple[list[tuple[int, float]], float, float]:
    """Two joined ports: frames/s without loss by size, median of the tester's own delay, half-width of its 5..95 % range (ns)."""

class StreamSpec:
    """One stream of a transmission. `tx_port` None: frames come by PACKET_OUT; `rx_port` -1: any port, -2: PACKET_IN."""

    def __init__(
        self,
        flows: FlowSet | Frames,
        frame_size: int,
        schedule: Schedule,
        tx_port: int | None,
        rx_port: int,
        duration_ns: int | None,
        record: int,
        count: int | None = None,
        *,
        flow_order: FlowOrder | None = None,
        late_ns: int | None = None,
        weight: int = 1,
    ) -> None: ...

class Recording:
    """The frames of a capture, with their times."""

    def __getitem__(self, index: int) -> bytes: ...
    def __len__(self) -> int: ...
    @property
    def times_ns(self) -> list[int]:
        """Nanoseconds since 1970, in the file's order."""
    @property
    def total_bytes(self) -> int:
        """Bytes of all frames together, without FCS."""
    @property
    def cut(self) -> int:
        """Frames of which the capture kept only the first bytes."""
    @property
    def broken(self) -> str | None:
        """Why the file was not read to its end, if it was not."""

def read_capture(path: str | None) -> Recording:
    """All frames of a pcap or pcapng file; None: standard input. Raises CaptureFileError."""

def judge_capture(path: str | None) -> dict[str, Any]:
    """The probes in a capture file: `frames`, `bytes`, `broken`, and `probes` as `Capture.finish` has them. Raises CaptureFileError."""

class Capture:
    """What arrives at ports goes to a file. `file`: a descriptor open for writing, which becomes ours; None: frames are counted only."""

    def __init__(
        self,
        ports: Sequence[Port],
        file: int | None,
        *,
        form: str,
        snaplen: int,
        count: int | None,
        duration_ns: int | None,
        probes: bool,
        core: int | None,
        queue_bytes: int,
    ) -> None: ...
    def progress(self) -> dict[str, int]:
        """Counters so far: elapsed_ns, frames, bytes, lost (by us), dropped (before us), written."""
    def stop(self) -> None:
        """End it; what has arrived is still written."""
    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended within that time."""
    def finish(self) -> dict[str, Any]:
        """Wait for the end, put the ports back; the counters, `ports` (name, frames, dropped), `stamps`, `probes`, `error` (an exception
        or None), `write_error` (text or None). Of a stream of probes: nonce, stream, sent, received, lost, duplicated, reordered, corrupt,
        latency (None where sender and receiver have different clocks) and variation, both with the fields of Latency.
        """

class Transmission:
    """Streams on their way: one worker thread transmits and receives on all ports.

    `cores`: a worker on each instead of one on `core`, the ports divided among them in their order, first queues first. `burst`: the
    most frames that leave together (1: each by itself, for the most exact times; None: 128).
    """

    def __init__(
        self,
        ports: Sequence[Port],
        streams: Sequence[StreamSpec],
        *,
        drain_ns: int | None,
        core: int | None,
        connection: Connection | None,
        cores: Sequence[int] = (),
        burst: int | None = None,
    ) -> None: ...
    def progress(self) -> tuple[int, list[int], list[int]]:
        """Elapsed ns, sent and received per stream."""
    def stop(self) -> None:
        """No more frames; drain."""
    def cut_drain(self) -> None:
        """Nothing is under way any more: end the drain as soon as it begins."""
    def set_sent(self, stream: int, frames: int) -> None:
        """How many frames somebody else sent of a stream. That ends it."""
    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended within that time."""
    def finish(self) -> dict[str, Any]:
        """Wait for the end, put the ports back, give the outcome: `streams` (fields of Reception, `latency` those of Latency), `tester`
        (fields of TesterState), `error` (an exception or None), `pinned`. The second call gives an empty one.
        """

def build_frame(layers: Sequence[tuple[str, Sequence[tuple[str, int]]]], payload: bytes) -> bytes:
    """The frame with these layers (name, values), from the outside in, without FCS. Raises UsageError."""

def frame_layers(frame: bytes) -> tuple[list[tuple[str, list[tuple[str, int]]]], int]:
    """The layers of a frame, as far as they are known, and how many bytes lie behind them."""

class Simulation:
    """A simulated switch with its tester. Virtual time moves only in calls that wait."""

    def __init__(self, model: str, ports: int, seed: int) -> None:
        """`model`: a device model as JSON. Raises ConfigError that names the key."""
    def now(self) -> int:
        """Virtual time in ns."""
    def sleep(self, ns: int) -> None:
        """Lets that time pass."""
    def connection(self, version: str) -> Connection:
        """Connects to the switch, in place of an earlier connection."""
    def transmission(
        self, streams: Sequence[StreamSpec], *, drain_ns: int | None, connection: Connection | None
    ) -> Transmission:
        """Starts streams now."""
    def exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, limits: tuple[int, int, int]
    ) -> list[tuple[int, int, bytes]]:
        """As `exchange` does on ports."""

def exchange(
    ports: Sequence[Port], frames: Sequence[tuple[int, bytes]], mark: bytes, limits: tuple[int, int, int]
) -> list[tuple[int, int, bytes]]:
    """Sends frames (position of the port, bytes); position, arrival in ns and bytes of those that come with `mark` in them, until
    as many as `limits` says came and nothing more for that many ns, or until that many ns are over.
    """

def encode_message(json: str, version: str) -> bytes:
    """The bytes of a message that is given as JSON (docs/reference/openflow-json.md). Raises UsageError, ChannelError (name `encode`)."""

def decode_message(data: bytes) -> tuple[str, str]:
    """Version and JSON of one whole message. Raises ChannelError."""

class OpenflowDecoder:
    """Lines from a capture of control channels or a hexadecimal dump; `path` None: standard input. Raises UsageError."""

    def __init__(self, path: str | None, text: bool, ports: Sequence[int]) -> None: ...
    def __iter__(self) -> OpenflowDecoder: ...
    def __next__(self) -> str:
        """Some lines, each with its line feed."""
    @property
    def messages(self) -> int:
        """Messages so far."""
    @property
    def errors(self) -> int:
        """Lines so far that say what is wrong."""

class OpenflowEncoder:
    """Bytes of messages in hexadecimal; `version` is for lines that name none."""

    def __init__(self, version: str) -> None: ...
    def line(self, text: str) -> str | None:
        """Of a message as JSON or a flow in ovs-ofctl syntax; None of an empty line or a comment. Raises UsageError."""

class FlowMods:
    """FLOW_MODs of one kind: `text` in ovs-ofctl syntax, exact on `fields` of each flow of `flows` if there is a set."""

    def __init__(
        self, command: str, text: str, flows: FlowSet | None = None, fields: Sequence[str] | None = None
    ) -> None: ...
    def __len__(self) -> int: ...
    def texts(self) -> list[str]:
        """Each as ovs-ofctl takes it, without its command; those of deletes without actions."""

def encode_flow(text: str, version: str) -> bytes:
    """A FLOW_MOD that adds a flow in ovs-ofctl syntax. Raises UsageError, ChannelError when the version can't express it."""

def encode_group(command: str, text: str, version: str) -> bytes:
    """A GROUP_MOD in ovs-ofctl syntax: "add", "modify", or "delete" (all, unless one is named)."""

def encode_meter(command: str, text: str, version: str) -> bytes:
    """The same for METER_MODs."""

class Play:
    """Control messages on their way."""

    def wait(self, timeout_s: float) -> bool:
        """Whether all are sent and answered (or the channel ended) within that time."""
    def stop(self) -> None:
        """Send no more."""
    def finish(self) -> dict[str, Any]:
        """What was done so far, as the fields of `PlayResult`."""

class Connection:
    """An established OpenFlow channel, controller's side."""

    @property
    def version(self) -> str:
        """ "1.0" or "1.3"."""
    @property
    def datapath_id(self) -> str:
        """16 hexadecimal digits."""
    @property
    def peer_name(self) -> str | None:
        """The name in the switch's certificate, None without TLS."""
    def counters(self) -> dict[str, Any]:
        """`log_dropped` (messages beyond our memory cap), `echoes_dropped` (unanswered because the switch reads no answers),
        `queued_bytes`, `timestamps` ("kernel receive", with TLS "decryption").
        """
    def ended(self) -> tuple[str, str] | None:
        """Stable name and text of why it ended, None while it is up."""
    def barrier(self, timeout_s: float) -> int:
        """Arrival of the BARRIER_REPLY."""
    def take_messages(self) -> list[tuple[int, bytes]]:
        """Messages that came unasked since the last call: arrival in ns, and bytes."""
    def set_miss_send_len(self, length: int, timeout_s: float) -> None:
        """SET_CONFIG and a barrier."""
    def count_entries(self, timeout_s: float) -> int:
        """Flow entries by aggregate statistics."""
    def describe(self, timeout_s: float) -> dict[str, Any]:
        """Description, features, tables, ports."""
    def dump_flows(self, timeout_s: float) -> list[str]:
        """Flow entries with their counters, as ovs-ofctl prints them."""
    def apply(self, messages: Sequence[bytes], timeout_s: float) -> None:
        """Send whole messages that have no reply, under transaction ids of our own, and a barrier. Raises RejectedError."""
    def transact(self, message: bytes, timeout_s: float) -> list[bytes]:
        """Send one whole message under a transaction id of our own; its replies. Raises RejectedError, ReplyTimeoutError."""
    def flow_mods(self, mods: Sequence[FlowMods], schedule: Schedule) -> Play:
        """FLOW_MODs, then a barrier."""
    def echo(self, schedule: Schedule, duration_ns: int) -> Play:
        """ECHO_REQUESTs with their send time as payload."""
    def packet_out(
        self, transmission: Transmission, stream: int, out_port: int, duration_ns: int, schedule: Schedule
    ) -> Play:
        """PACKET_OUTs with the probes of a running transmission's stream."""
    def request(self, json: str, timeout_s: float) -> list[str]:
        """Send a message given as JSON; each part of its reply as JSON. A message without a reply (FLOW_MOD) is followed by a barrier.
        Raises RejectedError with type, code and name.
        """
    def close(self) -> None:
        """Close it."""

class Channel:
    """An endpoint that listens for a switch or connects to one, in a network namespace if named."""

    def __init__(
        self,
        mode: str,
        host: str,
        port: int,
        *,
        netns: str | None,
        versions: Sequence[str],
        spin_us: int,
        tls: tuple[str, str, str] | None = None,
    ) -> None:
        """`tls`: files of private key, certificate and CA certificate. Raises TlsFileError, PortBusyError, SetupError."""
    @property
    def address(self) -> tuple[str, int]:
        """Where it listens or connects to."""
    def wait_connected(self, timeout_s: float, datapath_id: str | None = None) -> Connection:
        """The next switch, or the one with that datapath id (others stay for whoever waits for them). Raises NeverConnectedError,
        VersionMismatchError, GarbageError, TlsError.
        """
    def close(self) -> None:
        """End all its connections."""

class SwitchOptions:
    """How a switch is to be, besides its ports, versions and datapath id. Raises UsageError, TlsFileError.

    A queue is its number, its guaranteed and its highest rate in kb/s, and its priority; each port gets all of them.
    `tls` are the files with private key, certificate and authorities. A patient switch leaves the cores to others when
    there is little to do.
    """

    def __init__(
        self,
        *,
        numbers: Sequence[int],
        names: Sequence[str],
        controllers: Sequence[str],
        standalone: bool,
        tables: int,
        entries: int,
        buffers: int,
        probe_s: float | None,
        queues: Sequence[tuple[int, int, int | None, int]],
        tls: tuple[Path, Path, Path] | None,
        description: str,
        patient: bool,
    ) -> None: ...

class Switch:
    """The software switch. Without options its ports are 1, 2, ..., and it listens on a free port of the loopback."""

    def __init__(
        self,
        ports: Sequence[Port],
        *,
        versions: Sequence[str],
        datapath_id: int,
        options: SwitchOptions | None = None,
    ) -> None: ...
    @property
    def address(self) -> tuple[str, int]:
        """Where it listens or connects to first."""
    @property
    def controls(self) -> list[str]:
        """Where it listens and connects to: `ptcp:6653:0.0.0.0`, `ssl:10.0.0.1:6653`."""
    def events(self) -> list[str]:
        """What has happened since the last call, in one line each."""
    def alive(self) -> bool:
        """Whether its thread runs."""
    def stop(self) -> None:
        """End it."""
