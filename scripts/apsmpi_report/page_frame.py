# SPDX-License-Identifier: BSD-3-Clause
"""What every page has around its contents: the style, and the script that shows
what lies under the mouse. The page may load nothing: it forbids that itself."""

import html

from apsmpi_log.library import VERSION

STYLE = """
:root { --ink: #222; --soft: #666; --line: #ddd }
* { box-sizing: border-box }
body { font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; color: var(--ink);
  background: #fff; max-width: 1260px; margin: 0 auto; padding: 0 1rem 3rem }
h1 { font-size: 1.5rem; margin: 1.2rem 0 .3rem }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; padding-top: .6rem;
  border-top: 2px solid var(--line); overflow-wrap: anywhere }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem }
p { margin: .4rem 0; overflow-wrap: anywhere }
.soft { color: var(--soft) }
.note { background: #fff6d9; padding: .4rem .7rem }
.facts { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0 }
.fact { border: 1px solid var(--line); border-radius: 4px; padding: .4rem .8rem;
  flex: 1 1 8.5rem }
.fact b { display: block; font-size: 1.35rem; font-weight: 600 }
.fact span { color: var(--soft); font-size: .85rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .86rem;
  font-variant-numeric: tabular-nums }
th, td { padding: .18rem .5rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #eee }
th { position: sticky; top: 0; background: #fff; border-bottom: 2px solid #bbb }
th.left, td.left { text-align: left }
.events td.left { white-space: normal; overflow-wrap: anywhere }
tr.total td { border-top: 2px solid #bbb; font-weight: 600 }
.long { max-height: 36rem; overflow-y: auto }
svg { display: block; width: 100%; min-width: 860px; height: auto;
  font: 11px system-ui, "DejaVu Sans", sans-serif; fill: #333 }
code, pre { font: .82rem/1.4 "DejaVu Sans Mono", monospace }
.policy { background: #f6f6f3; border: 1px solid var(--line); border-radius: 4px;
  padding: .6rem .9rem; overflow-x: auto }
#under { position: fixed; display: none; pointer-events: none; background: #222;
  color: #fff; font-size: .8rem; padding: .2rem .5rem; border-radius: 3px;
  max-width: 22rem; z-index: 1 }
@media print { .long { max-height: none } }
"""

SCRIPT = """
"use strict";
const under = document.getElementById("under");
for (const map of document.querySelectorAll("svg.map")) {
  const data = map.dataset, rows = JSON.parse(data.rows);
  const columns = JSON.parse(data.columns), values = JSON.parse(data.values);
  map.addEventListener("pointerleave", () => { under.style.display = "none"; });
  map.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      map.getScreenCTM().inverse());
    const column = Math.floor((at.x - data.left) / data.width * columns.length);
    const row = Math.floor((at.y - data.top) / data.height * rows.length);
    const value = (values[row] || [])[column];
    under.style.display = value == null ? "none" : "block";
    under.textContent = rows[row] + ", " + columns[column] + ": " + value;
    under.style.left = Math.min(event.clientX + 12, innerWidth - 240) + "px";
    under.style.top = event.clientY + 14 + "px";
  });
}
"""


def frame(title, body):
    """The whole page, as text."""
    return """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="apsmpi-report %s">
<title>%s</title>
<style>%s</style>
</head>
<body>
%s
<div id="under"></div>
<script>%s</script>
</body>
</html>
""" % (html.escape(VERSION), html.escape(title), STYLE, body, SCRIPT)
