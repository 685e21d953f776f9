"""The frame of a page: head, contents, sections, charts' data and the script that draws them.

A page loads nothing: its content security policy forbids it, and the charts' library stands in the file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from flowgauge import __version__
from flowgauge.report.charts import Chart, theme
from flowgauge.report.rundata import Run

_FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:; "
    "form-action 'none'; base-uri 'none'"
)


@dataclass
class Page:
    """A page in the making: sections in order, and the charts that they refer to by number."""

    title: str
    sections: list[tuple[str, str, str]] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)

    def add(self, anchor: str, heading: str, body: str) -> None:
        """Append a section; an empty body is left out."""
        if body:
            self.sections.append((anchor, heading, body))

    def chart(self, chart: Chart) -> str:
        """The place of a chart; its data go to the end of the page."""
        self.charts.append(chart)
        number = len(self.charts) - 1
        return (
            f'<figure class="chart{" panels" if "concat" in chart.spec else ""}"><figcaption>{escape(chart.title)}</figcaption>'
            f'<div class="plot" data-chart="{number}" role="img" aria-label="{escape(chart.title)}"></div>'
            f'<p class="reading">{escape(chart.caption)}</p></figure>'
        )

    def html(self, intro: str, standing: str) -> str:
        """The whole page. `standing` is a line under the title."""
        contents = "".join(f'<li><a href="#{a}">{escape(h)}</a></li>' for a, h, _ in self.sections)
        body = "".join(f'<section id="{a}"><h2>{escape(h)}</h2>{b}</section>' for a, h, b in self.sections)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{escape(self.title)}</title><style>{_style()}</style></head>\n<body>"
            f'<div class="frame"><nav aria-label="Contents"><p class="brand">Flowgauge</p><ol>{contents}</ol></nav>'
            f"<main><header><h1>{escape(self.title)}</h1><p class='standing'>{standing}</p>{intro}</header>\n{body}"
            f"<footer>Flowgauge {__version__}. This file is complete: it loads nothing from elsewhere.</footer></main></div>\n"
            f"{self._scripts()}</body></html>\n"
        )

    def _scripts(self) -> str:
        if not self.charts:
            return f"<script>{_read('page.js')}</script>"
        data = _json([dict(c.spec) for c in self.charts])
        return (
            "<noscript><p>The charts need JavaScript; every figure also stands in the tables.</p></noscript>"
            f'<script type="application/json" id="charts">{data}</script>\n'
            f"<script>{library()}</script>\n<script>{_read('page.js')}</script>"
        )


@functools.cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub knows no default
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def render(run: Run) -> str:
    """The report of a run as one HTML text."""
    from flowgauge.report import summary
    from flowgauge.report.html import sections

    page = Page(summary.title(run))
    sections.fill(page, run)
    return page.html(sections.intro(run), sections.standing(run))


def _json(value: Sequence[Mapping[str, object]]) -> str:
    """JSON that can't end a script element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _style() -> str:
    def block(colors: Mapping[str, str]) -> str:
        return "".join(f"{name}:{color};" for name, color in colors.items())

    return (
        f":root{{{block(theme.LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{block(theme.DARK)}}}}}" + _read("style.css")
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
