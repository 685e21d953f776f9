"""Makes one feature test and says what came of it."""

from __future__ import annotations

import contextlib

from flowgauge.errors import (
    ChannelClosedError,
    FlowgaugeError,
    GarbageError,
    NotOfferedError,
    RejectedError,
    ReplyTimeoutError,
)
from flowgauge.features.feature import VERSIONS, Feature, Mismatch, NotApplicable, Outcome, Result
from flowgauge.features.tester import Tester
from flowgauge.testbed.interface import Testbed


def run(feature: Feature, testbed: Testbed, seed: int = 1) -> Outcome:
    """The outcome of a test on an open testbed, which is left without entries, groups and meters.

    Raises what breaks the test itself: a DUT that died, a port that went, a test that is wrong.
    """
    why = lacks(feature, testbed)
    if why is not None:
        return Outcome(Result.NOT_APPLICABLE, why)
    tester = Tester(testbed, seed)  # type: ignore[arg-type]
    try:
        tester.clear()
        return Outcome(Result.PASSED, feature.test(tester) or "")
    except Mismatch as found:
        return Outcome(Result.FAILED, found.text, found.evidence)
    except NotApplicable as found:
        return Outcome(Result.NOT_APPLICABLE, str(found))
    except NotOfferedError as error:
        return Outcome(Result.NOT_APPLICABLE, error.message)
    except RejectedError as error:
        return Outcome(Result.REFUSED, error.message, tuple(tester.asked_for()))
    except (ChannelClosedError, GarbageError, ReplyTimeoutError) as error:
        # A switch that hangs up, or never answers, fails the test that made it do so.
        return Outcome(Result.FAILED, error.message, tuple(tester.asked_for()))
    finally:
        with contextlib.suppress(FlowgaugeError):
            tester.finish()
            tester.clear()


def lacks(feature: Feature, testbed: Testbed) -> str | None:
    """Why the test can't be made on this testbed, None when it can."""
    version = testbed.control.version
    if version not in feature.versions:
        return _elsewhere(feature)
    if not hasattr(testbed, "exchange"):
        return "this testbed can't exchange single frames"
    if len(testbed.ports) < feature.ports:
        return f"it needs {feature.ports} ports; the DUT has {len(testbed.ports)}"
    missing = [need for need in feature.needs if need not in testbed.control.abilities]
    if missing:
        return f"this controller can't do what it needs: {', '.join(missing)}"
    return None


def _elsewhere(feature: Feature) -> str:
    """Which versions have it."""
    first, last = feature.versions[0], feature.versions[-1]
    if first == last:
        return f"OpenFlow {first} alone has it"
    return (
        f"OpenFlow {first} and later have it"
        if last == VERSIONS[-1]
        else f"OpenFlow {first} to {last} have it"
    )
