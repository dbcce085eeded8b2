"""The page of a report: its style, and its Jinja2 template.

Texts rather than files, so that they are in every wheel.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c2024; --muted: #60646c; --line: #dfe2e6; --panel: #f6f7f9;
  --accent: #0b6bcb; --soft: #a8bfd6; --bad: #c62a2f;
  --sans: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #16181b; --ink: #edeef0; --muted: #a1a6ae; --line: #34383e; --panel: #1f2226;
    --accent: #6cb0f5; --soft: #52708f; --bad: #f2777a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 62rem;
  background: var(--page); color: var(--ink); font: 16px/1.55 var(--sans);
}
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.75rem 0 .75rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead, .note, figcaption { color: var(--muted); }
.note, figcaption { font-size: .875rem; }
.warning { border-left: 3px solid var(--bad); padding: .5rem 0 .5rem .9rem; }
.figures { display: flex; flex-wrap: wrap; gap: 2.5rem; margin: 1.5rem 0 0; }
.figures div { line-height: 1.3; }
.figures b { display: block; font-size: 2rem; font-weight: 650; font-variant-numeric: tabular-nums; }
.figures span { color: var(--muted); font-size: .875rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .75rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 550; color: var(--muted); font-size: .875rem; }
.number { text-align: right; white-space: nowrap; padding-right: 1.25rem; }
tr.winner td { font-weight: 650; }
tr.failed td { color: var(--muted); }
.bar { width: 38%; padding-right: 0; }
.bar div { position: relative; height: .9rem; margin-top: .35rem; }
.bar i { position: absolute; top: 0; bottom: 0; left: 0; background: var(--soft); border-radius: 2px; }
tr.winner .bar i { background: var(--accent); }
.bar u { position: absolute; top: 50%; height: 1px; background: var(--ink); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.5rem; margin: 0; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; } svg.chart { width: 100%; height: auto; display: block; }
code, pre { font-family: var(--mono); font-size: .84rem; }
pre { background: var(--panel); padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; line-height: 1.45; }
details { margin: .75rem 0; } summary { cursor: pointer; }
.scroll { overflow-x: auto; }
"""

_MACROS = """
{% macro ms(seconds) %}<data value="{{ seconds }}">{{ seconds | ms }}</data>{% endmacro %}
{% macro decisions(some) %}
{% for name, value in some.items() %}{{ name }} <code>{{ value | value }}</code>{{ ", " if not loop.last }}{% endfor %}
{% endmacro %}
"""

_HEAD = """
<header>
<h1>{{ report.operator }}{% if report.graph %} on {{ report.graph }}{% endif %}</h1>
<p class="lead">Tuning of {{ report.operator }}
{% if report.features %}with {{ report.features }} features{% endif %} on {{ report.threads }}
thread{{ "s" if report.threads != 1 }}{% if report.processor %} of {{ report.processor }}{% endif %}
{% if report.sessions %}, {{ report.sessions[-1].started[:10] }}{% endif %}</p>
{% if not report.is_finished %}
<p class="warning">This job did not end:
{% if not report.sessions %}there is no word of how.
{% elif report.sessions[-1].state == "running" %}it was killed, or is still running.
{% else %}its last session was {{ report.sessions[-1].state }}.
{% endif %}
What follows is what it has recorded. The times are those of the search: the best candidates were not yet
timed in turns.</p>
{% endif %}
{% if headline or winner %}
<div class="figures">
{% for ratio, name in headline %}<div><b>{{ ratio }} &times;</b><span>as fast as {{ name }}</span></div>
{% endfor %}
{% if winner %}<div><b>{{ (report.comparison.get("tuned") or winner.seconds).median | ms }} ms</b>
<span>median of the {{ "tuned kernel" if report.is_finished else "fastest so far" }}</span></div>{% endif %}
<div><b>{{ n_right }}</b><span>candidates right{% if failures %}, {{ report.candidates | length - n_right }}
failed{% endif %}</span></div>
</div>
{% endif %}
</header>
"""

_COMPARISON = """
{% if comparison %}
<h2>Result</h2>
<div class="scroll"><table id="comparison">
<tr><th>kernel</th><th class="number">median, ms</th><th class="number">p20 to p80, ms</th>
<th class="number">time / tuned</th><th class="bar">time of one call</th></tr>
{% for row in comparison %}
<tr id="comparison-{{ row.key }}"{% if row.key == "tuned" %} class="winner"{% endif %}><td>{{ row.name }}</td>
<td class="number">{{ ms(row.time.median) }}</td>
<td class="number">{{ ms(row.time.p20) }} to {{ ms(row.time.p80) }}</td>
<td class="number">
{%- if row.ratio %}<data value="{{ row.ratio }}">{{ "%.2f" | format(row.ratio) }}</data>{% endif %}</td>
<td class="bar"><div><i style="width: {{ "%.2f" | format(row.bar) }}%"></i>
<u style="left: {{ "%.2f" | format(row.low) }}%;
width: {{ "%.2f" | format(row.high - row.low) }}%"></u></div></td></tr>
{% endfor %}
</table></div>
<p class="note">{{ comparison[0].time.n }} samples of each, taken in turns. Every kernel's result was compared with
SciPy's in float64 before the clock started. Thin lines go from the 20th to the 80th percentile.
{% if "scipy" not in report.comparison %}SciPy was not timed in this job.{% endif %}
{% if is_default %}The tuned kernel is the default schedule: what differs between these two is noise.
{% elif is_noisy %}The intervals of the default and of the tuned kernel overlap: the difference may be noise.
{% endif %}</p>
{% endif %}
"""

_SUBJECT = """
<h2>What was tuned</h2>
<dl>
<dt>operator</dt><dd>{{ report.operator }}{% if report.features %}, {{ report.features }} features{% endif %}</dd>
{% if report.graph %}<dt>matrix</dt><dd>{{ report.graph }}</dd>{% endif %}
{% if report.matrix %}
<dt>shape</dt><dd>{{ report.matrix.shape[0] | thousands }} &times; {{ report.matrix.shape[1] | thousands }}</dd>
<dt>entries</dt><dd>{{ report.matrix.nnz | thousands }}, {{ report.matrix.dtype }}</dd>
<dt>rows</dt><dd>{{ "%.2f" | format(report.matrix.mean) }} entries on average,
{{ report.matrix.longest | thousands }} at most, {{ report.matrix.n_empty | thousands }} rows are empty</dd>
{% endif %}
<dt>machine</dt><dd>{{ report.processor or "unknown processor" }}
{%- if report.mcpu %} ({{ report.mcpu }}){% endif %},
{{ report.threads }} thread{{ "s" if report.threads != 1 }}</dd>
<dt>versions</dt><dd>
{%- for name, version in report.versions.items() %}{{ name }} {{ version }}{{ ", " if not loop.last }}
{% endfor %}</dd>
</dl>
{% if charts.rows %}<figure>{{ charts.rows }}<figcaption>Row lengths.</figcaption></figure>{% endif %}
{% if report.sessions %}
<div class="scroll"><table id="sessions"><tr><th>session</th><th>started</th><th>state</th>
<th class="number">candidates wanted</th><th class="number">seed</th><th class="number">measured</th>
<th class="number">time</th></tr>
{% for session in report.sessions %}
<tr><td>{{ loop.index }}</td><td>{{ session.started }}</td><td>{{ session.state }}</td>
<td class="number">{{ session.asked }}</td><td class="number">{{ session.seed }}</td>
<td class="number">{{ session.measured if session.measured is not none else "unknown" }}</td>
<td class="number">{{ session.seconds | duration or "unknown" }}</td></tr>
{% endfor %}</table></div>
{% endif %}
"""

_SEARCH = """
{% if charts.progress %}
<h2>Search</h2>
<figure>{{ charts.progress }}<figcaption>Every candidate once, at the median of its
samples.</figcaption></figure>
{% endif %}
{% if winner %}
<h2>Why the winner won</h2>
<p>Its decisions: {{ decisions(winner.decisions) }}.
{% if is_default %}It is the default schedule itself.
{% elif changed %}Against the default schedule:
{% for name, old, new in changed %}{{ name }} <code>{{ new }}</code> instead of <code>{{ old }}</code>
{{- ", " if not loop.last else "." }} {% endfor %}{% endif %}</p>
{% if effects %}
<p>The decision that matters most is {{ effects[0].name }}: between its values, the median time differs by a factor of
{{ "%.2f" | format(effects[0].ratio) }}.</p>
<figure>{{ charts.effects }}<figcaption>Dots are candidates, bars their median by value; blue is the winner's value.
Candidates that share a value differ in the other decisions: this is what was seen, not the effect of one decision
alone.</figcaption></figure>
<details><summary>These times in numbers</summary>
<div class="scroll"><table id="effects"><tr><th>decision</th><th>value</th><th class="number">candidates</th>
<th class="number">median, ms</th><th class="number">fastest, ms</th></tr>
{% for effect in effects %}{% for value in effect.values %}
<tr{% if chosen.get(effect.name) == value.text %} class="winner"{% endif %}>
<td>{{ effect.name if loop.first }}</td><td><code>{{ value.text }}</code></td>
<td class="number">{{ value.seconds | length }}</td><td class="number">{{ ms(value.median) }}</td>
<td class="number">{{ ms(value.best) }}</td></tr>
{% endfor %}{% endfor %}</table></div></details>
{% endif %}
{% endif %}
"""

_CANDIDATES = """
{% if failures %}
<h2>Failures</h2>
<p>A candidate that is wrong, crashes or takes too long is never timed.</p>
{% for failure in failures %}
<details><summary>{{ failure.reason }}: {{ failure.count }}</summary><pre>{{ failure.log }}</pre></details>
{% endfor %}
{% endif %}
{% if report.skipped %}
<p class="warning">{{ report.skipped | length }} lines of the records could not be read and were skipped:
{{ report.skipped | join(", ") }}.</p>
{% endif %}
<h2>Candidates</h2>
{% if ranked %}
<details{% if ranked | length <= 20 %} open{% endif %}><summary>All {{ ranked | length }}, the fastest first</summary>
<div class="scroll"><table id="candidates"><tr><th class="number">number</th>
{% for name in decision_names %}<th>{{ name }}</th>{% endfor %}
<th class="number">median, ms</th><th class="number">p20 to p80, ms</th></tr>
{% for one in ranked %}
<tr{% if winner and one.key == winner.key %} class="winner"{% elif one.reason %} class="failed"{% endif %}>
<td class="number">{{ one.number }}</td>
{% for name in decision_names %}<td>{% if name in one.decisions %}<code>{{ one.decisions[name] | value }}</code>
{% endif %}</td>{% endfor %}
{% if one.seconds %}<td class="number">{{ ms(one.seconds.median) }}</td>
<td class="number">{{ ms(one.seconds.p20) }} to {{ ms(one.seconds.p80) }}</td>
{% else %}<td colspan="2">{{ one.reason }}</td>{% endif %}</tr>
{% endfor %}</table></div></details>
<p class="note">Times of the search. Those of the result were taken afterwards, in turns, and may differ.</p>
{% else %}<p>Nothing was measured.</p>{% endif %}
"""

_END = """
{% if commands %}
<h2>Commands</h2>
{% for what, line in commands %}<p>{{ what }}</p>
<pre>{{ line }}</pre>
{% endfor %}{% endif %}
{% if report.winner %}
<h2>Schedule of the {{ "winner" if report.is_finished else "fastest so far" }}</h2>
<details><summary>As a trace in Python</summary><pre>{{ report.winner.trace }}</pre></details>
<details><summary>The program it makes, in TVMScript</summary><pre>{{ report.winner.program }}</pre></details>
{% endif %}
"""

PAGE = f"""{_MACROS}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{{{ report.operator }}}}{{% if report.graph %}}, {{{{ report.graph }}}}{{% endif %}}: tuning report</title>
<style>{{{{ style }}}}</style>
</head>
<body>
{_HEAD}{_COMPARISON}{_SUBJECT}{_SEARCH}{_CANDIDATES}{_END}
</body>
</html>
"""
