/** The style sheet of the pages' frame and of the guides. It has the colours of the reference. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fff; --soft: #f6f6f6; --line: #e0e0e0; --text: #1b1b1b; --dim: #595959; --link: #0069a8;
  --bar: 48px; --scalar-custom-header-height: var(--bar);
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #0f0f0f; --soft: #1a1a1a; --line: #2d2d2d; --text: #e7e7e7; --dim: #a4a4a4; --link: #6cc0ff; }
}
/* Scalar's greys and colours, with enough contrast. */
.light-mode { --scalar-color-2: #595959; --scalar-color-3: #666; --scalar-color-green: #00734a; --scalar-color-orange: #a84300; --scalar-color-blue: #0069a8; --scalar-color-red: #c00; }
.dark-mode { --scalar-color-2: #a4a4a4; --scalar-color-3: #949494; --scalar-color-red: #ff7070; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.6 Inter, -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Ubuntu, 'Helvetica Neue', Arial, sans-serif; }
.bar { position: sticky; top: 0; z-index: 100; box-sizing: border-box; height: var(--bar); padding: 0 24px; display: flex; align-items: center; gap: 32px; background: var(--ground); border-bottom: 1px solid var(--line); }
.bar nav { display: flex; gap: 20px; }
.bar a { color: var(--dim); text-decoration: none; font-size: 15px; line-height: var(--bar); }
.bar a.name { color: var(--text); font-weight: 700; font-size: 16px; }
.bar a:hover, .bar a[aria-current] { color: var(--text); }
.bar a[aria-current] { box-shadow: inset 0 -2px var(--text); }
.bar form { flex: 1 1 6rem; min-width: 0; display: flex; justify-content: flex-end; }
.bar input { box-sizing: border-box; width: 100%; max-width: 16rem; font: inherit; font-size: 15px; padding: 4px 10px; border: 1px solid var(--dim); border-radius: 4px; background: var(--ground); color: var(--text); }
.found { box-sizing: border-box; max-width: 48rem; padding: 24px; }
.found ol { list-style: none; margin: 0; padding: 0; }
.found li { padding: 12px 0; border-bottom: 1px solid var(--line); }
.found li p { margin: 4px 0 0; overflow-wrap: anywhere; }
.found a { color: var(--link); font-weight: 600; }
.dim { color: var(--dim); font-size: 14px; }
.notice { padding: 24px; }
.guide { display: grid; grid-template-columns: 288px minmax(0, 1fr); }
.guide > nav { position: sticky; top: var(--bar); box-sizing: border-box; height: calc(100vh - var(--bar)); overflow: auto; padding: 16px 12px; border-right: 1px solid var(--line); font-size: 14px; }
.guide > nav summary { padding: 6px 10px; cursor: pointer; color: var(--dim); }
.guide > nav ul { list-style: none; margin: 0; padding: 0; }
.guide > nav a { display: block; padding: 6px 10px; border-radius: 4px; color: var(--dim); text-decoration: none; }
.guide > nav a:hover, .guide > nav a[aria-current] { background: var(--soft); color: var(--text); }
.guide main { box-sizing: border-box; width: 100%; max-width: 60rem; padding: 24px 48px 96px; }
.guide main a { color: var(--link); }
.guide main > :not(pre, .table) { max-width: 44rem; }
/* A shadow at the side where a wide table goes on. */
.guide .table { --shade: color-mix(in srgb, var(--dim) 45%, transparent); overflow-x: auto;
  background: linear-gradient(to right, var(--ground) 40%, transparent) 0 0 / 40px 100% no-repeat local, linear-gradient(to left, var(--ground) 40%, transparent) 100% 0 / 40px 100% no-repeat local, linear-gradient(to right, var(--shade), transparent) 0 0 / 12px 100% no-repeat scroll, linear-gradient(to left, var(--shade), transparent) 100% 0 / 12px 100% no-repeat scroll; }
form.set-up { display: grid; gap: 12px; max-width: 28rem; padding: 24px; }
.set-up h1 { font-size: 28px; line-height: 1.25; margin: 0; }
.set-up p { margin: 0; }
.set-up label { display: grid; gap: 4px; }
.set-up input, .set-up button { font: inherit; padding: 8px 12px; border: 1px solid var(--dim); border-radius: 4px; background: var(--ground); color: var(--text); }
.set-up button { justify-self: start; background: var(--text); color: var(--ground); cursor: pointer; }
.set-up output { white-space: pre-wrap; overflow-wrap: anywhere; }
.guide h1 { font-size: 28px; line-height: 1.25; }
.guide h2 { font-size: 20px; margin-top: 40px; }
.guide h2, .guide h3 { scroll-margin-top: calc(var(--bar) + 16px); }
.guide code { font: 14px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 1px 4px; overflow-wrap: anywhere; }
.guide .contents { border-left: 2px solid var(--line); padding-left: 12px; font-size: 15px; }
.guide .contents ul { list-style: none; margin: 0; padding: 0; columns: 16rem; }
.guide main pre { margin-top: 0; }
.guide main button { display: block; margin: 12px 0 4px auto; font: inherit; font-size: 13px; padding: 2px 10px; border: 1px solid var(--dim); border-radius: 4px; background: var(--ground); color: var(--text); cursor: pointer; }
.guide pre { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow: auto; }
.guide pre code { background: none; border: 0; padding: 0; font-size: 13px; overflow-wrap: normal; }
.guide table { border-collapse: collapse; width: 100%; font-size: 15px; }
.guide td:last-child { min-width: 14rem; }
.guide td code { white-space: nowrap; overflow-wrap: normal; }
.guide th, .guide td { text-align: left; vertical-align: top; padding: 8px 12px 8px 0; border-bottom: 1px solid var(--line); }
@media (min-width: 1001px) {
  .guide > nav summary { display: none; }
  .guide > nav details::details-content { content-visibility: visible; block-size: auto; }
}
@media (max-width: 1000px) {
  .bar { gap: 16px; padding: 0 16px; }
  .bar nav { gap: 12px; }
  .guide { display: block; }
  .guide > nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 8px 12px; }
  .guide main { padding: 8px 22px 64px; }
}
`;
