/**
 * A script of the reference that mends what screen readers stumble over in Scalar: parts of the
 * sidebar that claim to be selected options, buttons without the name that they show, and lists
 * that scroll out of reach of the keyboard. Scalar draws them anew at any time, so it watches.
 */
export const MEND_SCRIPT = `
const MENDS = [
  ['button[aria-selected]:not([role])', (button) => {
    button.toggleAttribute('aria-current', button.getAttribute('aria-selected') === 'true');
    button.removeAttribute('aria-selected');
  }],
  ['button[role=search]', (button) => button.removeAttribute('role')],
  ['.sidebar-search-placeholder[aria-hidden]', (name) => name.removeAttribute('aria-hidden')],
  ['button:is(.code-copy, [class*=copy-button]):not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy')],
  ['button.show-more[aria-label]', (button) => button.removeAttribute('aria-label')],
  ['ul.endpoints:not([tabindex])', (list) => list.setAttribute('tabindex', '0')],
];
function mend() {
  for (const [selector, change] of MENDS) document.querySelectorAll(selector).forEach(change);
}
new MutationObserver(mend).observe(document.body, { subtree: true, childList: true, attributes: true });
`;
