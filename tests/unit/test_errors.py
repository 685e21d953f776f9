"""The error catalogue: names are stable and unique, errors survive pickling, the docs page lists them all."""

import pickle
from pathlib import Path

from flowgauge import errors

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def catalogue() -> list[type[errors.FlowgaugeError]]:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.FlowgaugeError)]
    return sorted(kinds, key=lambda k: k.name)


def test_names_are_unique() -> None:
    names = [k.name for k in catalogue()]
    assert len(set(names)) == len(names)


def test_errors_cross_processes_whole() -> None:
    for kind in catalogue():
        copy = pickle.loads(pickle.dumps(kind("what happened", advice="what to do")))
        assert (type(copy), copy.message, copy.advice) == (kind, "what happened", "what to do")


def test_the_docs_page_lists_each_error_with_its_exit_code() -> None:
    text = DOCS.read_text()
    for kind in catalogue():
        assert f"| `{kind.name}` | {kind.exit_code} |" in text, kind.name
