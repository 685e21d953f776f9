"""Flow sets as people write them on a command line.

```
flows    = field=pattern,field=pattern,...
pattern  = VALUE                one value in all flows
         | FIRST+STEP           FIRST, then STEP more in each flow
         | FIRST..LAST          all from FIRST to LAST, then from FIRST again
         | A|B|C                the values in turn
         | random               random bits, the same for the same seed
         | random:VALUE/PREFIX  random behind the first PREFIX bits of an address
```
"""

from __future__ import annotations

import ipaddress
import re

from flowgauge import _core
from flowgauge.errors import UsageError
from flowgauge.flows import Cycle, FlowSet, Increment, Pattern, Random, Value

OPEN_FLOWS = 1000
"""Flows of a set whose patterns don't say how many values they have."""
MOST_FLOWS = 4_000_000
"""The most flows of a set (64 bytes of memory each)."""
MOST_LISTED = 65_536
"""The most values of a range that is shorter than the set."""

EXAMPLE = '"ipv4_dst=10.0.0.1+1,udp_dst=7"'
_MAC = re.compile(r"[0-9a-fA-F]{1,2}(:[0-9a-fA-F]{1,2}){5}")


def parse_flows(text: str, flow_count: int | None = None, *, seed: int = 1) -> FlowSet:
    """The flow set that a text describes, of `count` flows. Raises UsageError, which says what is wrong with which field.

    Without `flow_count` a set has as many flows as its longest range or list has values, 1000 if it has other patterns, else 1.

    >>> parse_flows("ipv4_dst=10.0.0.1..10.0.0.9,udp_dst=7")
    FlowSet(fields={'ipv4_dst': Increment(start='10.0.0.1', step=1, bits=None), 'udp_dst': '7'}, count=9, first=0)
    >>> parse_flows("udp_dst=7|9, ipv4_src=10.0.0.1+256", 5)
    FlowSet(fields={'udp_dst': Cycle(values=('7', '9')), 'ipv4_src': Increment(start='10.0.0.1', step=256, bits=None)}, count=5, first=0)
    """
    items: dict[str, str] = {}
    for item in text.split(",") if text.strip() else []:
        name, equals, pattern = (part.strip() for part in item.partition("="))
        if not (name and equals and pattern):
            raise UsageError(
                f"flows {text!r}: expected field=pattern, found {item.strip()!r}", advice=_advice()
            )
        if name in items:
            raise UsageError(f"flows {text!r}: {name} is given twice; a field has one pattern")
        items[name] = pattern
    lengths = {name: _length(name, pattern) for name, pattern in items.items()}
    known = [n for n in lengths.values() if n is not None]
    own = max([1, *known] if len(known) == len(lengths) else [OPEN_FLOWS, *known])
    count = own if flow_count is None else flow_count
    if not 1 <= count <= MOST_FLOWS:
        whose = f"flows {text!r}" if flow_count is None else "--flow-count"
        raise UsageError(f"{whose}: {count} flows; allowed: 1 to {MOST_FLOWS}")
    fields = {name: _pattern(name, pattern, count, seed) for name, pattern in items.items()}
    flows = FlowSet(fields, count)
    try:
        _core.flow_values(FlowSet(fields))
    except UsageError as error:
        raise UsageError(f"flows {text!r}: {error.message}", advice=_advice()) from None
    return flows


def _length(name: str, pattern: str) -> int | None:
    """How many values a pattern has; None: as many as are wanted."""
    if pattern.startswith("random") or "+" in pattern:
        return None
    if "|" in pattern:
        return len(pattern.split("|"))
    if ".." in pattern:
        first, last = _range(name, pattern)
        return last - first + 1
    return 1


def _pattern(name: str, pattern: str, count: int, seed: int) -> Pattern:
    if pattern.startswith("random"):
        return _random(name, pattern, seed)
    if "+" in pattern:
        first, _, step = pattern.partition("+")
        step = step.strip()
        if not re.fullmatch(r"0x[0-9a-fA-F]+|[0-9]+", step):
            raise UsageError(f"{name}={pattern}: expected FIRST+STEP with a number as step, found {step!r}")
        return Increment(first.strip(), step=int(step, 16 if step.startswith("0x") else 10))
    if "|" in pattern:
        values = tuple(value.strip() for value in pattern.split("|"))
        if not all(values):
            raise UsageError(f"{name}={pattern}: expected values with | between them, found an empty one")
        return Cycle(values)
    if ".." in pattern:
        first_value, last = _range(name, pattern)
        length = last - first_value + 1
        if length >= count:
            return Increment(pattern.partition("..")[0].strip())
        if length > MOST_LISTED:
            raise UsageError(
                f"{name}={pattern}: {length} values, fewer than the set's {count} flows; allowed then: at most {MOST_LISTED}"
            )
        return Cycle(tuple(range(first_value, last + 1)))
    return pattern


def _range(name: str, pattern: str) -> tuple[int, int]:
    first, _, last = (part.strip() for part in pattern.partition(".."))
    low, high = _number(first), _number(last)
    if low is None or high is None:
        raise UsageError(f"{name}={pattern}: expected FIRST..LAST, two numbers or two addresses")
    if high < low:
        raise UsageError(f"{name}={pattern}: the last value is before the first")
    return low, high


def _random(name: str, pattern: str, seed: int) -> Random:
    word, colon, rest = pattern.partition(":")
    if word != "random" or (colon and not rest):
        raise UsageError(
            f"{name}={pattern}: expected random, or random:VALUE/PREFIX such as random:10.0.0.0/8"
        )
    if not colon:
        return Random(seed)
    base, slash, prefix = rest.rpartition("/")
    bits = _address_bits(base)
    if not slash or bits is None or not prefix.isdecimal() or int(prefix) > bits:
        raise UsageError(
            f"{name}={pattern}: expected an address and a prefix length, such as random:10.0.0.0/8"
        )
    return Random(seed, base=base, mask=(1 << bits - int(prefix)) - 1)


def _address_bits(text: str) -> int | None:
    if _MAC.fullmatch(text):
        return 48
    try:
        return ipaddress.ip_address(text).max_prefixlen
    except ValueError:
        return None


def _number(text: Value) -> int | None:
    """A number, or an address as one."""
    text = str(text)
    if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
        return int(text, 16) if text.startswith("0x") else int(text)
    if _MAC.fullmatch(text):
        return int("".join(part.zfill(2) for part in text.split(":")), 16)
    try:
        return int(ipaddress.ip_address(text))
    except ValueError:
        return None


def _advice() -> str:
    return f"For example {EXAMPLE}. Patterns: 10.0.0.1, 10.0.0.1+1, 1..100, 7|9, random, random:10.0.0.0/8."
