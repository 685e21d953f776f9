"""The error catalogue: each error has a stable name, a place, what was expected and what was found.

The command line prints the message and exits with `exit_code`; Rust errors arrive with the same names.
"""

from __future__ import annotations

from typing import ClassVar


class FlowgaugeError(Exception):
    """Base of all errors that a user may see.

    `name` is stable and documented; `advice` says what to do about it.
    """

    name: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries whole (keyword arguments would be lost otherwise)."""
        return _rebuild, (type(self), self.message, self.advice), self.__dict__


def _rebuild(kind: type[FlowgaugeError], message: str, advice: str | None) -> FlowgaugeError:
    return kind(message, advice=advice)


class UsageError(FlowgaugeError):
    """The command line or a configuration file asks for something that does not exist or is not allowed."""

    name = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A TOML file is malformed, or a key in it has a value that is not allowed; names file, line and key."""

    name = "config"


class UnknownNameError(UsageError):
    """No suite, benchmark, DUT, parameter or published result has that name; lists those that exist."""

    name = "unknown-name"


class NotOfferedError(UsageError):
    """The controller in use can't do or say what was asked for; another one may."""

    name = "not-offered"


class RunDirectoryError(UsageError):
    """A directory is no run, or a file in it can't be read; names the file and what is wrong with it."""

    name = "run-directory"


class CaptureFileError(UsageError):
    """A capture file can't be read, or holds no Ethernet frames; names the file and what is wrong with it."""

    name = "capture-file"


class SetupError(FlowgaugeError):
    """The DUT or this host could not be set up; nothing was measured."""

    name = "setup"
    exit_code = 3


class MissingToolError(SetupError):
    """A program or kernel facility that the DUT needs is not on this host."""

    name = "missing-tool"


class PermissionNeededError(SetupError):
    """The operation needs a privilege (usually root) that this process lacks."""

    name = "permission-needed"


class InterfaceError(SetupError):
    """A network interface is missing or down, or can't be opened."""

    name = "interface"


class TooFewQueuesError(SetupError):
    """A device has fewer queues than were asked for; names how many there are, and how it gets more."""

    name = "too-few-queues"


class DpdkMissingError(MissingToolError):
    """DPDK, or the shim that is built against it, is not on this host; everything else works without."""

    name = "dpdk-missing"


class DpdkError(SetupError):
    """DPDK did not start, or can't open a device; says what DPDK said."""

    name = "dpdk"


class HugepagesError(SetupError):
    """Hugepages were asked for, and too few are free."""

    name = "hugepages"


class PortBusyError(SetupError):
    """The TCP port on which the switch was to connect is in use."""

    name = "port-busy"


class RunWriteError(SetupError):
    """The run directory can't be written any more (disk full, removed); what was written before is kept."""

    name = "run-write"


class CaptureWriteError(SetupError):
    """A capture file can't be written any more (disk full, its reader gone); what it holds is whole."""

    name = "capture-write"


class ChannelError(FlowgaugeError):
    """The OpenFlow channel failed: never connected, closed, reset, or spoke something else."""

    name = "channel"


class NeverConnectedError(ChannelError):
    """No switch opened (or accepted) the OpenFlow channel in time."""

    name = "never-connected"
    exit_code = 3


class VersionMismatchError(ChannelError):
    """The switch speaks no OpenFlow version that was asked for."""

    name = "version-mismatch"
    exit_code = 3


class GarbageError(ChannelError):
    """The peer sent bytes that are not OpenFlow; names the offset."""

    name = "garbage"


class TlsError(ChannelError):
    """TLS failed: a certificate that one side does not trust, or one side speaks TLS and the other does not."""

    name = "tls"
    exit_code = 3


class TlsFileError(UsageError):
    """A private key, certificate or CA file for TLS is missing or does not serve; names the file and what is wrong."""

    name = "tls-file"


class ChannelClosedError(ChannelError):
    """The switch closed or reset the channel."""

    name = "channel-closed"


class ReplyTimeoutError(ChannelError):
    """The switch did not answer a request in time."""

    name = "reply-timeout"


class ControllerError(ChannelError):
    """The controller through which entries reach the switch failed, or answered something that is not understood."""

    name = "controller"


class ControllerUnreachableError(ControllerError):
    """Nothing answers at the controller's address."""

    name = "controller-unreachable"
    exit_code = 3


class UnknownSwitchError(ControllerError):
    """The controller knows no switch with that datapath id: it is not connected."""

    name = "unknown-switch"
    exit_code = 3


class RejectedError(ChannelError):
    """The switch answered a request with an OpenFlow error; names type and code."""

    name = "rejected"
    error_type: int | None = None
    code: int | None = None
    reason: str | None = None
    """The error's name in OpenFlow, such as OFPFMFC_OVERLAP."""


class TrialError(FlowgaugeError):
    """A trial could not be completed; the rest of the run goes on."""

    name = "trial"


class LinkDownError(TrialError):
    """A tester port lost its link while frames moved: an interface that went down or away, a socket that the DUT left."""

    name = "link-down"


class DutDiedError(TrialError):
    """The DUT stopped during a trial."""

    name = "dut-died"


class WorkerDiedError(TrialError):
    """The worker process that held the testbed ended unexpectedly."""

    name = "worker-died"
