"""Suites that come with Flowgauge, and the places that messages name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowgauge import benchmarks, suites
from flowgauge.benchmarks import load_path
from flowgauge.errors import ConfigError
from flowgauge.runner.estimate import Estimate
from flowgauge.runner.plan import Request, make_plan
from flowgauge.suites import toml


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", suites.names())
def test_every_suite_makes_a_plan(name: str, quick: bool) -> None:
    plan = make_plan(Request(targets=[name], quick=quick))
    assert plan.items
    state = Estimate.of(plan).state()
    assert state.total > 0
    if quick or name == "quick":
        assert state.remaining_s < 600


@pytest.mark.parametrize("name", benchmarks.BUILTIN)
def test_every_benchmark_is_found_and_its_quick_values_are_allowed(name: str) -> None:
    kind = benchmarks.load(name)
    assert kind.name == name
    assert kind.params_type.model_validate(dict(kind.quick))


def test_quick_replaces_what_the_suite_says_and_set_replaces_everything(tmp_path: Path, fake: Path) -> None:
    text = '[[benchmark]]\nname = "fake"\nacts = ["ok", "warn"]\nduration_s = 2\n[benchmark.quick]\nduration_s = 1\n'
    (tmp_path / "lab.toml").write_text(text)
    target = str(tmp_path / "lab.toml")

    def params(**more: object) -> dict[str, object]:
        return make_plan(Request(targets=[target], **more)).items[0].params.model_dump()  # type: ignore[arg-type]

    assert (params()["acts"], params()["duration_s"]) == (("ok", "warn"), 2)
    assert (params(quick=True)["acts"], params(quick=True)["duration_s"]) == (("ok",), 1)
    assert params(quick=True, settings=["fake.duration_s=0.5"])["duration_s"] == 0.5
    (tmp_path / "lab.toml").write_text("quick = true\n" + text)
    assert (params()["acts"], params()["duration_s"]) == (("ok", "warn"), 2)


def test_a_third_partys_broken_benchmark_is_named() -> None:
    with pytest.raises(ConfigError, match=r"benchmark x: nowhere can't be imported"):
        load_path("x", "nowhere")
    with pytest.raises(ConfigError, match="holds no Benchmark class with that name"):
        load_path("x", "flowgauge.benchmarks.packet_in:PacketIn")


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6), st.data())
def test_lines_of_keys_are_found(names: list[str], data: st.DataObject) -> None:
    lines: list[str] = []
    expected: dict[tuple[str | int, ...], int] = {}
    for n, name in enumerate(names):
        lines += ["# a comment", "[[benchmark]]", f'name = "{name}"', "x = [", "  1,", "]"]
        expected["benchmark", n, "name"] = len(lines) - 3
        expected["benchmark", n, "x"] = len(lines) - 2
        if data.draw(st.booleans()):
            lines += ["[benchmark.quick]", "x = 2"]
            expected["benchmark", n, "quick", "x"] = len(lines)
    text = "\n".join(lines)
    assert {keys: toml.line_of(text, keys) for keys in expected} == expected
