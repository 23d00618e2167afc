"""Pictures: data as JSON within the page, drawn by plotly.js, which is inlined once.

It is packed, since it is the largest part of most reports, and nothing of it is read before a
picture comes near the part of the page that is seen: a report opens as fast as its text does.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence

#: What a script element must not contain, or the parser of HTML ends it: all are plain in JSON.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": " "})

#: The element that holds plotly.js: text to a browser, until it is needed.
PACKED = "fabric-plotly"

#: Draws a figure when it is first near to be seen, in a fold that is open. `cells` are the values
#: that are there, as column, row and value: a matrix of a fabric is nearly empty, and would be
#: megabytes. A click on what has evidence goes there.
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
  var loaded = null;
  function load() {
    loaded = loaded || new Promise(function (done, fail) {
      var text = atob(document.getElementById('fabric-plotly').textContent.trim());
      var bytes = Uint8Array.from(text, function (c) { return c.charCodeAt(0); });
      var plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
      new Response(plain).text().then(function (code) {
        var script = document.createElement('script');
        script.textContent = code;
        document.head.appendChild(script);
        done();
      }, fail);
    });
    return loaded;
  }
  function draw(box) {
    if (box.dataset.drawn) return;
    box.dataset.drawn = 'yes';
    var place = box.querySelector('div');
    load().then(function () {
      var figure = JSON.parse(box.querySelector('script').textContent);
      place.style.minHeight = '';
      Plotly.newPlot(place, figure.data.map(spread), figure.layout,
                     {displayModeBar: false, responsive: false});
      place.on('plotly_click', function (event) {
        event.points.forEach(function (p) { if (p.customdata) show(p.customdata); });
      });
    }).catch(function (error) {
      place.textContent = 'The picture cannot be drawn by this browser (' + error + ').';
    });
  }
  function isOpen(box) {
    var fold = box.closest('details');
    return !fold || fold.open;
  }
  var boxes = Array.from(document.querySelectorAll('.fabric-figure'));
  var near = new IntersectionObserver(function (found) {
    found.forEach(function (one) {
      if (one.isIntersecting && isOpen(one.target)) draw(one.target);
    });
  }, {rootMargin: '400px'});
  boxes.forEach(function (box) { near.observe(box); });
  window.addEventListener('beforeprint', function () { boxes.filter(isOpen).forEach(draw); });
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
    height = layout.get("height", 0)  # so that nothing moves when it is drawn
    return (
        f'<div class="fabric-figure">{NONE}<div style="min-height: {height}px"></div>'
        f'<script type="application/json">{text.translate(_ESCAPES)}</script></div>'
    )


def scripts(parts: Sequence[str]) -> list[str]:
    """Return the scripts that the pictures among parts of a page need: none without pictures."""
    if not any('class="fabric-figure"' in part for part in parts):
        return []
    # Slow, and only a report with pictures needs it.
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    packed = base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()
    return [
        "<!-- plotly.js, Copyright Plotly, Inc., MIT licence, packed with gzip -->",
        f'<script type="text/plain" id="{PACKED}">{packed}</script>',
        f"<script>{SCRIPT}</script>",
    ]


def significant(number: float) -> float:
    """Return a number with the digits that a picture can show."""
    return float(f"{number:.4g}")
