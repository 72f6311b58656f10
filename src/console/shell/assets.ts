import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Router } from 'express';
import { strictRouter } from '../../http/http-server.ts';

/**
 * Draws a `time-chart`: lines over time, from the JSON that the element carries. It is drawn where
 * the element appears, also in a part that came later, and anew when the theme changes. Times are
 * in Nairobi's zone.
 */
const CHART_SCRIPT = `
const HEIGHT = 220;
const DARK = matchMedia('(prefers-color-scheme: dark)');
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeZone: 'Africa/Nairobi', hour: '2-digit', minute: '2-digit' });
const LINES = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5'];
customElements.define('time-chart', class extends HTMLElement {
  connectedCallback() {
    this.draw();
    this.redraw = () => { this.clear(); this.draw(); };
    DARK.addEventListener('change', this.redraw);
  }
  disconnectedCallback() {
    DARK.removeEventListener('change', this.redraw);
    this.clear();
  }
  draw() {
    const { from, to, times, series } = JSON.parse(this.dataset.chart);
    const style = getComputedStyle(this);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } };
    const lines = series.map(({ label }, n) => ({
      label, width: 2, spanGaps: true, points: { show: true }, stroke: colour(LINES[n % LINES.length]),
    }));
    const size = () => ({ width: this.clientWidth || 300, height: HEIGHT });
    this.plot = new uPlot({
      ...size(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Africa/Nairobi'),
      scales: { x: { range: [Math.min(from, ...times), to] }, y: { range: (plot, min, max) => [0, Math.max(max, 1) * 1.05] } },
      axes: [{ ...axis, values: (plot, ticks) => ticks.map((tick) => CLOCK.format(tick * 1000)) }, axis],
      series: [{}, ...lines],
    }, [times, ...series.map(({ values }) => values)], this);
    this.observer = new ResizeObserver(() => this.plot.setSize(size()));
    this.observer.observe(this);
  }
  clear() {
    this.observer.disconnect();
    this.plot.destroy();
  }
});
`;

/**
 * The console's own script. A button with `data-copy` copies the text of the element of that id. A
 * form is sent once, however often its button is pressed. A form that follows one with `data-asks-first` does what
 * that one has asked for: once its fields have changed, that must be seen first. The key / leads to the search. On a
 * phone the menu is one line, which shows the entry of the page.
 */
const SCRIPT = `
document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = 'Copied';
});
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = 'true';
});
document.addEventListener('input', ({ target }) => {
  const button = target.closest('[data-asks-first]')?.parentElement
    .querySelector('[data-asks-first] ~ form button[type=submit]');
  if (!button) return;
  button.disabled = true;
  button.textContent = 'First see what it would do';
});
document.addEventListener('keydown', (event) => {
  const isTyped = event.target.closest('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey;
  const search = document.querySelector('input[name=q]');
  if (event.key !== '/' || isTyped || !search) return;
  event.preventDefault();
  search.focus();
});
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
window.addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});
`;

/** The one stylesheet. Colours are variables, so that both themes share every rule. */
const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f6f7f6; --card: #fff; --ink: #17211d; --soft: #55625c; --line: #d5dcd8;
  --accent: #0a6b4f; --on-accent: #fff; --good: #0a6b4f; --bad: #a8201a; --warn: #865300;
  --bad-back: #fdeceb; --warn-back: #fff3dc; --good-back: #e3f4ed;
  --line-1: #0a6b4f; --line-2: #1f5fbf; --line-3: #a8201a; --line-4: #865300; --line-5: #7a3ea8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #101613; --card: #18211d; --ink: #e6ede9; --soft: #a3b1aa; --line: #33403a;
    --accent: #5cc9a0; --on-accent: #07241a; --good: #6fd3ab; --bad: #ff9d96; --warn: #f0bd6b;
    --bad-back: #3a1715; --warn-back: #35270f; --good-back: #12322a;
    --line-1: #5cc9a0; --line-2: #7db2ff; --line-3: #ff9d96; --line-4: #f0bd6b; --line-5: #cfa2f5;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem; z-index: 1; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center;
  padding: .6rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; text-decoration: none; }
nav { display: flex; flex-wrap: wrap; gap: .25rem .9rem; }
nav a { text-decoration: none; padding: .25rem 0; }
nav a[aria-current] { border-bottom: 2px solid var(--accent); font-weight: 600; }
.account { margin-left: auto; display: flex; gap: .6rem; align-items: center; font-size: .9rem; }
main { max-width: 88rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; } dl + h3 { margin-top: 1rem; }
.card, .problem { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: 1rem; margin: 0 0 1rem; }
.card > h2:first-child, form.card > h2 { margin-top: 0; }
.narrow { max-width: 27rem; margin: 1.5rem auto; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); margin-bottom: 1rem; }
.cards > .card { margin: 0; }
.field { margin: 0 0 .9rem; display: flex; flex-direction: column; gap: .2rem; }
label { font-weight: 600; }
input, select, textarea { font: inherit; color: inherit; background: var(--back);
  border: 1px solid var(--soft); border-radius: .35rem; padding: .45rem .6rem; width: 100%; }
input[type=checkbox], input[type=radio] { width: auto; }
.hint, .soft { color: var(--soft); font-size: .9rem; }
button, .button { font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent);
  border: 1px solid var(--accent); border-radius: .35rem; padding: .45rem .9rem; cursor: pointer;
  text-decoration: none; display: inline-block; white-space: nowrap; }
button.quiet, .button.quiet { background: none; color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0 0; }
.form-problem, .warning { border-left: 4px solid var(--bad); background: var(--bad-back);
  padding: .5rem .8rem; margin: 0 0 1rem; }
.warning { border-color: var(--warn); background: var(--warn-back); }
.note { border-left: 4px solid var(--good); background: var(--good-back); padding: .5rem .8rem; margin: 0 0 1rem; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 1rem;
  padding: 0 .6rem; margin: 0 .3rem 0 0; font-size: .85rem; font-weight: 600; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem;
  border-bottom: 1px solid var(--line); }
th { font-size: .85rem; color: var(--soft); overflow-wrap: normal; }
td { overflow-wrap: normal; }
td code, td pre { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
code, pre { font: .9em/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; background: var(--back); padding: .6rem; margin: .4rem 0; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; }
.search { display: flex; gap: .5rem; }
.offers { list-style: none; margin: 0; padding: 0; }
.offers li { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center;
  justify-content: space-between; padding: .35rem 0; }
.filters { display: grid; gap: 0 1rem; align-items: end;
  grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); }
.filters .buttons { margin: 0 0 .9rem; }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; }
.figures { grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.figures dl { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } .figures time { white-space: normal; }
.wide { grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
time-chart { display: block; overflow: hidden; } summary { cursor: pointer; padding: .4rem 0; }
fieldset { border: 1px solid var(--line); border-radius: .35rem; margin: 0 0 1rem; }
fieldset label { font-weight: 400; }
.timeline { list-style: none; margin: 0; padding: 0; border-left: 2px solid var(--line); }
.timeline li { position: relative; padding: 0 0 .9rem 1.1rem; }
.timeline li::before { content: ''; position: absolute; left: -.4rem; top: .45rem; width: .7rem;
  height: .7rem; border-radius: 50%; background: var(--soft); }
.timeline li.good::before { background: var(--good); } .timeline li.bad::before { background: var(--bad); }
.timeline li.warn::before { background: var(--warn); }
.timeline p { margin: 0; }
@media (max-width: 40rem) {
  table.stack thead { display: none; }
  table.stack, table.stack tbody, table.stack tr, table.stack td { display: block; }
  table.stack tr { border: 1px solid var(--line); border-radius: .5rem; margin-bottom: .7rem; padding: .3rem; }
  table.stack td { border: 0; padding: .15rem .5rem; display: flex; gap: .7rem; text-align: left; }
  table.stack td::before { content: attr(data-label); color: var(--soft); flex: 0 0 8.5rem; }
  table.stack td > span { min-width: 0; overflow-wrap: anywhere; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; }
  nav { order: 1; width: 100%; flex-wrap: nowrap; overflow-x: auto; }
  nav a { white-space: nowrap; padding: .45rem 0; }
  .badge { white-space: normal; }
  header search { flex: 1; }
  button, .button { white-space: normal; }
  .account span { display: none; }
}
`;

const { resolve } = createRequire(import.meta.url);
const SHOWN_LENGTH = 12;
/** An asset never changes under its address. */
const CACHING = 'public, max-age=31536000, immutable';

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0a6b4f"/><path d="M4 12V4l4 5 4-5v8" fill="none" stroke="#fff" stroke-width="2"/></svg>';

/** Scripts and styles of the pages. The address of each has the version of its content. */
export const ASSETS = {
  htmx: asset('htmx.js', packaged('htmx.org/dist/htmx.min.js')),
  style: asset('style.css', STYLE),
  script: asset('script.js', SCRIPT),
  plot: asset('plot.js', packaged('uplot/dist/uPlot.iife.min.js')),
  plotStyle: asset('plot.css', packaged('uplot/dist/uPlot.min.css')),
  chart: asset('chart.js', CHART_SCRIPT),
  icon: asset('icon.svg', ICON),
};

/** Serves the assets. They come from our own files and packages, and nothing from elsewhere. */
export function assetRoutes(): Router {
  const router = strictRouter();
  for (const { path, name, content } of Object.values(ASSETS)) {
    router.get(path, (_req, res) => {
      res.set('Cache-Control', CACHING).type(name.split('.')[1]!).send(content);
    });
  }
  return router;
}

function asset(name: string, content: string) {
  const version = createHash('sha256').update(content).digest('hex').slice(0, SHOWN_LENGTH);
  return { name, content, path: `/assets/${version}/${name}` };
}

function packaged(file: string): string {
  return readFileSync(resolve(file), 'utf8');
}
