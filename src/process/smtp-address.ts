import { isLocalHost } from './networks.ts';

/** A mail server, as `SMTP_URL` names it. */
export interface SmtpAddress {
  host: string;
  /** Undefined: 465 with TLS from the start, else 587. */
  port?: number;
  /** TLS from the start. Otherwise STARTTLS, or none. */
  secure: boolean;
  /** Nobody can listen between two programs of one machine, and few have a certificate for it. */
  isLocal: boolean;
  auth?: { user: string; pass: string };
}

const SCHEMES = ['smtp:', 'smtps:'];

/**
 * Reads `smtps://user:password@host:port`. What is special in the password is percent-encoded.
 * @throws Error that continues a sentence about the variable, and repeats no value
 */
export function smtpAddressFromText(text: string): SmtpAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !SCHEMES.includes(url.protocol) || url.hostname === '') {
    throw new Error('must be an address such as smtps://user:password@mail.example.com');
  }
  if (!['', '/'].includes(url.pathname) || url.search || url.hash) {
    throw new Error('must end with the host or its port: it takes no path and no options');
  }
  const [user, pass] = [decoded(url.username), decoded(url.password)];
  if ((user === '') !== (pass === '')) throw new Error('must have a user and a password, or none');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    ...(url.port && { port: Number(url.port) }),
    secure: url.protocol === 'smtps:',
    isLocal: isLocalHost(host),
    ...(user && { auth: { user, pass } }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must have % in its password written as %25');
  }
}
