"""report.html: one file that needs no network, with interactive charts, readable on screen and on paper."""

from __future__ import annotations

from flowgauge.report.html.page import render

__all__ = ["render"]
