/** The one stylesheet. Colours are variables, so that both themes share every rule. */
export const STYLE = `
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
time-chart { display: block; } summary { cursor: pointer; padding: .4rem 0; }
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
  header search { flex: 1; }
  button, .button { white-space: normal; }
  .account span { display: none; }
}
`;
