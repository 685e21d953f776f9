"""How a tester port is opened, for each backend: one function in one table."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping
from typing import Any

from flowgauge import _core
from flowgauge.duts.cores import CorePlan
from flowgauge.duts.dpdk_folders import remove_own_at_exit
from flowgauge.duts.interface import PortWiring
from flowgauge.errors import DpdkError, SetupError, TooFewQueuesError


def open_port(wiring: PortWiring, plan: CorePlan) -> _core.Port:
    """The tester's end of a wire, for the workers of a plan. Raises SetupError and its kinds."""
    if wiring.backend not in OPENERS:
        raise SetupError(f"no backend is called {wiring.backend!r}; there are: {', '.join(OPENERS)}")
    if wiring.backend in SINGLE and (wiring.queues or 1) > 1:
        raise TooFewQueuesError(
            f"a port of {wiring.backend} has one queue, not {wiring.queues}",
            advice="leave the queues out, or use af_xdp, dpdk or af_packet",
        )
    return OPENERS[wiring.backend](wiring, plan)


def _options(wiring: PortWiring) -> Mapping[str, Any]:
    return wiring.options if wiring.queues is None else {**wiring.options, "queues": wiring.queues}


def _ring(wiring: PortWiring, _plan: CorePlan) -> _core.Port:
    handle = wiring.handle
    assert isinstance(handle, _core.Port), "a driver gives ring ports as handles"
    return handle


def _af_packet(wiring: PortWiring, _plan: CorePlan) -> _core.Port:
    return _core.open_af_packet(wiring.interface, wiring.netns, **_options(wiring))


def _af_xdp(wiring: PortWiring, _plan: CorePlan) -> _core.Port:
    return _core.open_af_xdp(wiring.interface, wiring.netns, **_options(wiring))


def _dpdk(wiring: PortWiring, plan: CorePlan) -> _core.Port:
    remove_own_at_exit()
    try:
        return _core.open_dpdk(wiring.interface, wiring.netns, cores=plan.workers, **_options(wiring))
    except DpdkError as error:
        # DPDK says no more than that it failed.
        named = re.search(r"(?:^|,)iface=([^,]+)", wiring.interface)
        there = [name for _, name in socket.if_nameindex()]
        if named is None or wiring.netns is not None or named[1] in there:
            raise
        raise DpdkError(
            f'{error.message}; there is no interface "{named[1]}"; there are: {", ".join(there)}',
            advice="check the name; of an interface in a network namespace, name this, too (--netns)",
        ) from error


def _pcap(wiring: PortWiring, _plan: CorePlan) -> _core.Port:
    return _core.open_pcap(wiring.interface)


OPENERS: Mapping[str, Callable[[PortWiring, CorePlan], _core.Port]] = {
    "ring": _ring,
    "af_packet": _af_packet,
    "af_xdp": _af_xdp,
    "dpdk": _dpdk,
    "pcap": _pcap,
}
"""Backend -> how to open one."""

SINGLE = frozenset({"ring", "pcap"})
"""Backends whose ports have one queue."""
