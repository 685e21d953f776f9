"""Options of a DUT on the command line: `ovs:ports=3,mtu=9000`, `embedded:delay=100us,loss=1000`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flowgauge.errors import ConfigError


@dataclass(frozen=True)
class Option:
    """One option: how to read its text, its default, and what is allowed, for messages and help."""

    read: Callable[[str], Any]
    default: Any
    allowed: str


def parse(dut: str, text: str, options: Mapping[str, Option]) -> dict[str, Any]:
    """The values of `key=value,key=value`, defaults for those not named.

    Raises ConfigError that names the option and what is allowed.

    >>> parse("embedded", "slots=64", {"slots": Option(int, 0, "a number")})
    {'slots': 64}
    """
    values = {name: option.default for name, option in options.items()}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, separator, value = part.partition("=")
        if key not in options:
            raise ConfigError(
                f"{dut} has no option {key!r}; it has: "
                + ", ".join(f"{n} ({o.allowed})" for n, o in options.items())
            )
        try:
            if not separator:
                raise ValueError
            values[key] = options[key].read(value)
        except ValueError:
            raise ConfigError(f"{dut}: option {key} is {value!r}; allowed: {options[key].allowed}") from None
    return values


def whole(low: int, high: int) -> Callable[[str], int]:
    """Reads a whole number within `low`..`high`."""

    def read(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


def yes_or_no(text: str) -> bool:
    """Reads `yes` or `no`.

    >>> yes_or_no("yes")
    True
    """
    if text not in ("yes", "no"):
        raise ValueError(text)
    return text == "yes"


def one_of(*words: str) -> Callable[[str], str]:
    """Reads one of some words.

    >>> one_of("auto", "no")("no")
    'no'
    """

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return read


PORTS = Option(whole(2, 64), 3, "2..64 ports")
"""How many ports tester and DUT share; the benchmarks of the suites need up to 3."""
MTU = Option(whole(68, 9500), 1500, "68..9500 bytes")
BACKEND = Option(one_of("af_packet", "af_xdp"), "af_packet", "af_packet or af_xdp")
"""How the tester moves frames on an interface of the kernel."""
