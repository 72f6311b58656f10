import { createTransport } from 'nodemailer';
import type { SmtpAddress } from '../process/smtp-address.ts';
import { abortAfter } from '../time.ts';

/** An e-mail as plain text. */
export interface Email {
  from: string;
  to: string;
  subject: string;
  text: string;
  /** Names the e-mail, so that mail programs can know a second copy. */
  id: string;
}

interface SendOptions {
  /** For the whole of it. */
  timeoutMs: number;
  /** Sends nothing to another machine without TLS. */
  requireTls: boolean;
}

/**
 * Hands an e-mail to a mail server.
 * @throws Error when the server did not take it, or not in time. It may still have it.
 */
export async function sendEmail(
  { host, port, secure, isLocal, auth }: SmtpAddress,
  { id, to, ...email }: Email,
  { timeoutMs, requireTls }: SendOptions,
): Promise<void> {
  const transport = createTransport({
    host,
    secure,
    ...(port !== undefined && { port }),
    ...(auth && { auth }),
    requireTLS: requireTls && !secure && !isLocal,
    ignoreTLS: isLocal,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const message = {
    ...email,
    // An object is one address, whatever is in its text.
    to: { name: '', address: to },
    messageId: `<${id}@${email.from.split('@').at(-1)}>`,
    // Nobody's out-of-office notice answers it (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
  await abortAfter(timeoutMs, (signal) =>
    Promise.race([transport.sendMail(message), rejectionOf(signal)]),
  );
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
