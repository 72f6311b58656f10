import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Address of the database, and how to reach it. `Config` is one. */
export interface DatabaseAddress {
  databaseUrl: string;
  /** Encryption. Without it, `sslmode` in the address decides. */
  databaseTls?: DatabaseTls | undefined;
  /** `transaction` behind a pooler that lends connections by transaction. */
  databasePooling?: 'session' | 'transaction';
  /** Such a pooler knows prepared statements: PgBouncer from 1.21 on, when it is told to. */
  databasePoolerPrepares?: boolean;
}

/** `ca` is PEM text. Without it, the certificates that Node trusts count. */
export type DatabaseTls = { verify: true; ca?: string | undefined } | { verify: false };

/** Parameters of the address that decide the encryption. An explicit setting replaces them. */
const TLS_WORDS = ['ssl', 'sslmode', 'sslrootcert', 'uselibpqcompat'];
/** Modes that the client treats as `verify-full`, with a warning of five lines. */
const READ_AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca'];

/** Returns how a client connects: TLS as the settings say, or else as the address says. */
export function connectionSettings({ databaseUrl, databaseTls: tls }: DatabaseAddress) {
  if (!tls) return { connectionString: withPlainMode(databaseUrl) };
  const connectionString = withWords(databaseUrl, (words) => {
    for (const word of TLS_WORDS) words.delete(word);
  });
  if (!tls.verify) return { connectionString, ssl: { rejectUnauthorized: false } };
  return { connectionString, ssl: { rejectUnauthorized: true, ...(tls.ca && { ca: tls.ca }) } };
}

/** Says whether connections are encrypted without proof of who is at the other end. */
export function isUnverified({ databaseUrl, databaseTls: tls }: DatabaseAddress): boolean {
  if (tls) return !tls.verify;
  const words = wordsOf(databaseUrl);
  const mode = words.get('sslmode');
  if (words.get('uselibpqcompat') !== 'true') return mode === 'no-verify';
  return mode === 'prefer' || (mode === 'require' && !words.has('sslrootcert'));
}

/** Writes the mode that the client uses anyway, so that it has nothing to warn of. */
function withPlainMode(url: string): string {
  const words = wordsOf(url);
  const mode = words.get('sslmode') ?? '';
  if (words.get('uselibpqcompat') === 'true' || !READ_AS_VERIFY_FULL.includes(mode)) return url;
  return withWords(url, (changed) => changed.set('sslmode', 'verify-full'));
}

function wordsOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?', 2)[1] ?? '');
}

/** Keeps the rest of the address as it is written, because not every one is a standard URL. */
function withWords(url: string, change: (words: URLSearchParams) => void): string {
  const words = wordsOf(url);
  change(words);
  const base = url.split('?', 1)[0]!;
  return words.size > 0 ? `${base}?${words}` : base;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Returns the certificates of a setting, as PEM text. The setting is the path of a file, or PEM
 * text in which `\n` may stand for the end of a line.
 * @throws Error whose message continues a sentence that begins with the setting's name
 */
export function certificatesFromText(text: string): string {
  const pem = text.includes('-----BEGIN') ? text.replaceAll('\\n', '\n') : read(text);
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error('holds no certificate in PEM form');
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate);
    } catch {
      throw new Error('holds a certificate that cannot be read');
    }
  }
  return certificates.join('\n');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
