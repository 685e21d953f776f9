"""ALIEN's published tables against runs on the models of its devices: how far off, and whether the documentation says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowgauge import models
from flowgauge.reproduction.judge import Result
from flowgauge.reproduction.page import render
from flowgauge.reproduction.run import reproduce
from flowgauge.reproduction.tables import LEFT_OUT, LIMIT, TABLES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "reproduction.md"
MOST_PARAMETERS = 15


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    return reproduce(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("position", range(len(TABLES)), ids=[t.number for t in TABLES])
def test_the_judged_rows_of_each_table_are_reproduced(results: list[Result], position: int) -> None:
    deviation = results[position].median_deviation()
    assert deviation is not None
    assert deviation < LIMIT


def test_the_page_is_what_a_run_gives(results: list[Result]) -> None:
    assert render(results) == PAGE.read_text(), "call tools/reproduction.py"


def test_odd_rows_are_fitted_even_rows_judged_and_only_noted_rows_left_out(results: list[Result]) -> None:
    for result in results:
        for row in result.rows:
            if row.role == "left out":
                assert LEFT_OUT & set(row.notes)
            else:
                assert row.role == ("fitted" if row.number % 2 else "judged")


@pytest.mark.parametrize("name", models.names())
def test_models_have_few_parameters_each_with_a_source(name: str) -> None:
    model = models.load(name)
    assert len(model.parameters()) <= MOST_PARAMETERS
    assert set(model.sources) == set(model.parameters())
