/**
 * The console's own script. A button with `data-copy` copies the text of the element of that id. A
 * form is sent once, however often its button is pressed. On a phone the menu is one line, which
 * shows the entry of the page.
 */
export const SCRIPT = `
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
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
window.addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});
`;
