"""Hugepages: what a lease adds to the host's pool it gives back, no more and no less."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowgauge.duts import hugepages
from flowgauge.duts import lease as module
from flowgauge.duts.cleanup import clean
from flowgauge.duts.hugepages import Pages
from flowgauge.duts.lease import Lease, leases


class Pool:
    """A pool like the kernel's: writing its size frees and adds pages, of which there are `most`."""

    def __init__(self, folder: Path, most: int = 1000) -> None:
        self.folder, self.most = folder, most
        folder.mkdir()
        for name in ("nr_hugepages", "free_hugepages", "resv_hugepages", "surplus_hugepages"):
            self[name] = 0

    def __getitem__(self, name: str) -> int:
        return int((self.folder / name).read_text())

    def __setitem__(self, name: str, value: int) -> None:
        (self.folder / name).write_text(f"{value}\n")

    def write(self, count: int) -> None:
        """As hugetlb's set_max_huge_pages: pages in use become surplus when the pool shrinks below them, and return when it grows."""
        used = self["nr_hugepages"] - self["free_hugepages"]
        size = min(count, self.most)
        self["surplus_hugepages"] = max(0, used - size)
        self["nr_hugepages"] = max(size, used)
        self["free_hugepages"] = self["nr_hugepages"] - used

    def use(self, pages: int) -> None:
        """Somebody maps pages, or (negative) unmaps them: surplus ones go."""
        self["free_hugepages"] = self["free_hugepages"] - pages
        if pages < 0:
            gone = min(self["surplus_hugepages"], -pages)
            for name in ("surplus_hugepages", "nr_hugepages", "free_hugepages"):
                self[name] = self[name] - gone


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    found = Pool(tmp_path / "pool")
    monkeypatch.setattr(hugepages, "POOL", found.folder)
    monkeypatch.setattr(hugepages, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(hugepages, "_write", found.write)
    monkeypatch.setattr(module, "state_dir", lambda: tmp_path / "state")
    return found


def test_what_was_added_is_given_back(pool: Pool) -> None:
    pool.write(10)
    lease = Lease.take("test")
    assert lease.take_hugepages(401) == 402
    assert pool["nr_hugepages"] == 10 + 201
    assert lease.end() == ["201 hugepages"]
    assert pool["nr_hugepages"] == 10
    assert lease.end() == []


def test_two_leases_do_not_take_each_others(pool: Pool) -> None:
    first, second = Lease.take("a"), Lease.take("b")
    first.take_hugepages(100)
    second.take_hugepages(60)
    first.end()
    assert pool["nr_hugepages"] == 30
    second.end()
    assert pool["nr_hugepages"] == 0


def test_pages_in_use_go_when_their_user_ends(pool: Pool) -> None:
    lease = Lease.take("test")
    lease.take_hugepages(200)
    pool.use(40)
    lease.end()
    assert hugepages.pool() == 0
    assert pool["nr_hugepages"] == 40
    pool.use(-40)
    assert pool["nr_hugepages"] == 0


def test_surplus_of_an_earlier_user_is_not_counted_as_free(pool: Pool) -> None:
    first = Lease.take("a")
    first.take_hugepages(200)
    pool.use(40)
    first.end()
    second = Lease.take("b")
    second.take_hugepages(200)
    assert hugepages.free_mib() == 200
    second.end()
    pool.use(-40)
    assert pool["nr_hugepages"] == 0


def test_a_host_that_has_no_room_gives_what_it_can(pool: Pool) -> None:
    pool.most = 25
    lease = Lease.take("test")
    assert lease.take_hugepages(100) == 50
    assert lease.end() == ["25 hugepages"]


def test_clean_gives_back_what_a_crash_left(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = Lease.take("test")
    lease.take_hugepages(100)
    monkeypatch.setattr(Lease, "stale", lambda self: True)
    assert [found.pages for found in leases()] == [Pages(50, 0, added=True)]
    assert list(clean().removed.values()) == [["50 hugepages"]]
    assert pool["nr_hugepages"] == 0


@pytest.mark.parametrize(("came", "given"), [(0, 0), (20, 20), (50, 50), (80, 50)])
def test_a_crash_while_they_are_added_takes_no_page_of_others(pool: Pool, came: int, given: int) -> None:
    pool.write(7)
    lease = Lease.take("test")
    lease.pages = hugepages.wanted(100)
    lease._save()
    pool.write(7 + came)
    (left,) = leases()
    left.end()
    assert pool["nr_hugepages"] == 7 + came - given


def test_nothing_is_given_back_after_a_restart_of_the_host(pool: Pool) -> None:
    lease = Lease.take("test")
    lease.take_hugepages(100)
    lease.boot = "before"
    assert lease.end() == []
    assert pool["nr_hugepages"] == 50
