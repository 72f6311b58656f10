/** The style sheet of the page. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --code: #8881; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 17rem 1fr; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; box-sizing: border-box; border-right: 1px solid var(--line); font-size: 14px; }
nav ul { list-style: none; padding-left: .75rem; margin: .25rem 0 1rem; }
main { padding: 1.5rem 2.5rem 6rem; max-width: 56rem; min-width: 0; }
article { border-top: 1px solid var(--line); padding: 1rem 0 2rem; }
h3 { margin: 0; } h4 { margin: 1.25rem 0 .5rem; }
.call code { font-size: 15px; font-weight: 600; }
code, pre { font-family: ui-monospace, monospace; font-size: 14px; background: var(--code); border-radius: 4px; padding: .1em .3em; }
pre { padding: .75rem; overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { white-space: nowrap; font-weight: 400; } thead th { font-weight: 600; }
th + td:not(:last-child) { overflow-wrap: break-word; }
summary { cursor: pointer; margin-top: 1rem; }
a { color: inherit; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; } }
`;
