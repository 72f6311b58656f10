import { MIN_PASSWORD_LENGTH } from '../../domain/credentials/passwords.ts';
import { BASE_PATH } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { framed, html, raw } from './pages.ts';

/*
 * The pages of the links that go out by e-mail. The code stands behind the `#`, so that no server,
 * no proxy and no log gets it with the address; a mail program that opens the link spends nothing.
 */

interface SetUpForm {
  title: string;
  lines: readonly string[];
  path: string;
  /** Labels of the passwords to type in, of which the first one is sent. */
  passwords: readonly string[];
  button: string;
}

/** The pages, by the last part of their address. */
export const SET_UP_FORMS: Readonly<Record<'password' | 'secret', SetUpForm>> = {
  password: {
    title: 'Set your password',
    lines: [
      `At least ${MIN_PASSWORD_LENGTH} characters, not easy to guess: several words, for example.`,
      'All your sessions end. Nobody at the operator sees your password.',
    ],
    path: endpoints.setUpPassword.path,
    passwords: ['New password', 'The same again'],
    button: 'Set the password',
  },
  secret: {
    title: 'Read the secret of your app',
    lines: [
      'The secret is shown once, to you alone. Keep it where only your program can read it.',
      'If the page says that the link was used, and not by you, tell the operator at once.',
    ],
    path: endpoints.readSecret.path,
    passwords: [],
    button: 'Show the secret',
  },
};

export function setUpPage({ title, lines, path, passwords, button }: SetUpForm): string {
  const inputs = passwords.map(
    (label) =>
      html`<label>${label}<input type="password" autocomplete="new-password" minlength="${String(MIN_PASSWORD_LENGTH)}" required></label>`,
  );
  return framed({
    title: `${title} – Malipo`,
    body: html`<noscript><p class="notice">This page needs JavaScript.</p></noscript>
<main><form class="set-up" data-path="${BASE_PATH}${path}"><h1>${title}</h1>
${raw(lines.map((line) => html`<p>${line}</p>`).join(''))}
${raw(inputs.join(''))}<button>${button}</button><output role="status"></output></form></main>
<script src="/set-up/set-up.js"></script>`,
  });
}

/** Sends the code, and the password if one is asked for, and shows the answer. */
export const SET_UP_SCRIPT = `
const form = document.querySelector('form.set-up');
const output = form.querySelector('output');
const button = form.querySelector('button');
const passwords = [...form.querySelectorAll('input')];
const NAMES = { app_code: 'App', app_key: 'Key', secret: 'Secret' };
function textOf(answer) {
  if (!answer.secret) return answer.detail ?? answer.message + '. You can log in now.';
  return Object.keys(NAMES).map((name) => NAMES[name] + ': ' + answer[name]).join('\\n');
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const [first, again] = passwords.map(({ value }) => value);
  if (first !== again && passwords.length > 0) return void (output.textContent = 'The two passwords are not the same.');
  button.disabled = true;
  output.textContent = 'Please wait.';
  const body = JSON.stringify({ code: location.hash.slice(1), new_password: first });
  const headers = { 'Content-Type': 'application/json' };
  try {
    const response = await fetch(form.dataset.path, { method: 'POST', headers, body });
    output.textContent = textOf(await response.json());
    button.disabled = response.ok;
  } catch {
    output.textContent = 'No answer came. Try again.';
    button.disabled = false;
  }
});
`;
