"""Pictures: data as JSON within the page, drawn by plotly.js, which is inlined once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

#: What a script element must not contain, or the parser of HTML ends it: all are plain in JSON.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": " "})

#: Draws a figure when its fold is first open. `cells` are the values that are there, as column,
#: row and value: a matrix of a fabric is nearly empty, and would be megabytes. A click on
#: what has evidence goes there.
SCRIPT = """
(function () {
  function spread(trace) {
    if (!trace.cells) return trace;
    trace.z = Array.from({length: trace.size[1]}, function () {
      return Array(trace.size[0]).fill(null);
    });
    trace.cells.forEach(function (c) { trace.z[c[1]][c[0]] = c[2]; });
    delete trace.cells; delete trace.size;
    return trace;
  }
  function show(name) {
    var found = document.getElementById(name);
    if (!found) return;
    for (var up = found; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    location.hash = name;
    found.scrollIntoView();
  }
  function draw(box) {
    if (box.dataset.drawn) return;
    box.dataset.drawn = 'yes';
    var figure = JSON.parse(box.querySelector('script').textContent);
    var place = box.querySelector('div');
    Plotly.newPlot(place, figure.data.map(spread), figure.layout,
                   {displayModeBar: false, responsive: false});
    place.on('plotly_click', function (event) {
      event.points.forEach(function (p) { if (p.customdata) show(p.customdata); });
    });
  }
  document.querySelectorAll('.fabric-figure').forEach(function (box) {
    var fold = box.closest('details');
    if (!fold || fold.open) { draw(box); return; }
    fold.addEventListener('toggle', function () { if (fold.open) draw(box); });
  });
  document.querySelectorAll('.fabric a[href^="#e-"]').forEach(function (link) {
    link.addEventListener('click', function () { show(link.hash.slice(1)); });
  });
})();
"""

#: pytest-html builds a row for every result that its filter shows, and ten thousand keep a browser
#: busy for ten seconds or more: where there are many, those that passed wait for their box.
MANY = 2000
HIDE = """
(function () {
  var asked = new URL(location.href);
  if (asked.searchParams.has('visible')) return;
  asked.searchParams.set('visible', 'skipped,failed,error,xfailed,xpassed,rerun');
  try { history.replaceState(null, '', asked.href); } catch (refused) { return; }
})();
"""

NONE = "<noscript><p>The picture needs JavaScript; tables have its worst values.</p></noscript>"


def figure(data: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> str:
    """Return a picture as HTML: its data, and the place where it is drawn."""
    shown = {"data": data, "layout": layout}
    text = json.dumps(shown, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return (
        f'<div class="fabric-figure">{NONE}<div></div>'
        f'<script type="application/json">{text.translate(_ESCAPES)}</script></div>'
    )


def scripts(parts: Sequence[str]) -> list[str]:
    """Return the scripts that the pictures among parts of a page need: none without pictures."""
    if not any('class="fabric-figure"' in part for part in parts):
        return []
    # Slow, and only a report with pictures needs it.
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    return [f"<script>{get_plotlyjs()}</script>", f"<script>{SCRIPT}</script>"]


def significant(number: float) -> float:
    """Return a number with the digits that a picture can show."""
    return float(f"{number:.4g}")
