import { generateSync } from 'otplib';
import type { SandboxStaff } from '../sandbox/seed-staff.ts';
import { BenchError } from './options.ts';

export type Cookies = Map<string, string>;

/** Logs in to the console as a person does. @returns the cookies of the session */
export async function logInToConsole(origin: string, staff: SandboxStaff): Promise<Cookies> {
  const cookies: Cookies = new Map();
  const { email, password, totp_secret: secret } = staff;
  await sendForm(origin, '/log-in', cookies, { email, password });
  await sendForm(origin, '/one-time-password', cookies, { code: generateSync({ secret }) });
  return cookies;
}

/** Reads a form, and sends it with its token. @throws BenchError when it is shown again */
async function sendForm(
  origin: string,
  path: string,
  cookies: Cookies,
  fields: Record<string, string>,
): Promise<void> {
  const form = await sendWith(cookies, `${origin}${path}`);
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? '';
  const body = new URLSearchParams({ ...fields, _csrf });
  const { status } = await sendWith(cookies, `${origin}${path}`, { method: 'POST', body });
  if (status !== 303) throw new BenchError(`${path} answered with HTTP ${status}`);
}

/** Sends a request with the cookies, and keeps those of the answer. It does not follow. */
export async function sendWith(
  cookies: Cookies,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' });
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    cookies.set(name!, value!);
  }
  return response;
}
