"use strict";
(() => {
  const element = document.getElementById("charts");
  const specs = element ? JSON.parse(element.textContent) : [];
  const drawn = new Map();

  // A chart of panels takes as many columns as fit; a single one is as wide as its place, up to its own width.
  function fit(spec, width) {
    const copy = structuredClone(spec);
    const panel = (spec.usermeta && spec.usermeta.panel) || 360;
    if (copy.concat) copy.columns = Math.max(1, Math.min(3, Math.floor((width + 26) / panel)));
    else if (copy.vconcat) copy.vconcat.forEach((part) => { part.width = Math.max(200, Math.min(part.width, width - 135)); });
    else if (copy.width) copy.width = Math.max(220, Math.min(copy.width, width - 90));
    return copy;
  }

  async function draw(place) {
    const spec = fit(specs[Number(place.dataset.chart)], place.clientWidth);
    const shape = `${spec.columns}/${(spec.vconcat ? spec.vconcat[0] : spec).width}`;
    if (drawn.get(place) === shape) return;
    drawn.set(place, shape);
    try {
      await vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", actions: false });
    } catch (error) {
      place.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }

  async function drawAll() {
    for (const place of document.querySelectorAll(".plot")) await draw(place);
    document.documentElement.dataset.ready = "yes";
  }

  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 200); });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")].filter((d) => !d.dataset.noprint);
    closed.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
  if (specs.length) drawAll();
})();
