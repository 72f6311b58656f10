import { generateSync } from 'otplib';
import { EmbeddedServiceError } from './processes/embedded-service-error.ts';
import type { SandboxStaff } from './seed-staff.ts';

/** A member of staff who uses the console by HTTP, as a browser without scripts does. */
export interface ConsoleVisitor {
  /** The cookies of the session, by name. */
  cookies: ReadonlyMap<string, string>;
  /** Reads a page. It does not follow where the answer leads. */
  read(path: string): Promise<Response>;
  /**
   * Opens the page of a form, fills it in and sends it.
   * @param action where the form goes, if it is not the address of its page
   * @returns where the console leads to afterwards
   * @throws EmbeddedServiceError when the console refuses the form
   */
  submit(path: string, fields: Record<string, string | File>, action?: string): Promise<string>;
}

/** The time for which one-time passwords are good, in seconds. */
const OTP_STEP_S = 30;

/** Returns a one-time password that the log-in has not used: the next one, which is good already. */
export function nextOtpOf({ totp_secret: secret }: SandboxStaff): string {
  return generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + OTP_STEP_S });
}

/** Logs a member of staff in to the console, with password and one-time password. */
export async function visitConsole(origin: string, staff: SandboxStaff): Promise<ConsoleVisitor> {
  const visitor = strangerAt(origin);
  const { email, password, totp_secret: secret } = staff;
  await visitor.submit('/log-in', { email, password });
  await visitor.submit('/one-time-password', { code: generateSync({ secret }) });
  return visitor;
}

function strangerAt(origin: string): ConsoleVisitor {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const options = { ...init, headers: { cookie }, redirect: 'manual' } as const;
    const answer = await fetch(`${origin}${path}`, options);
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    return answer;
  };
  return {
    cookies,
    read: (path) => send(path),
    submit: async (path, fields, action = path.split('?')[0]!) => {
      const form = await (await send(path)).text();
      const filled = { ...hiddenFields(form), ...fields };
      const answer = await send(action, { method: 'POST', body: bodyOf(filled) });
      const location = answer.headers.get('location');
      if (answer.status === 303 && location) return location;
      throw new EmbeddedServiceError(`The console answered ${path} with HTTP ${answer.status}`);
    },
  };
}

/** What a form carries besides what people fill in, its token above all. The main part is last. */
function hiddenFields(html: string): Record<string, string> {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, value!]));
}

function bodyOf(fields: Record<string, string | File>): URLSearchParams | FormData {
  const hasFile = Object.values(fields).some((value) => value instanceof File);
  const body = hasFile ? new FormData() : new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) body.append(name, value as string);
  return body;
}
