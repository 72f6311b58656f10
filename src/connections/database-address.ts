/** Where the database is and how it is reached; `Config` is one. */
export interface DatabaseAddress {
  databaseUrl: string;
  /** How connections are encrypted; absent: as `sslmode` in the address says. */
  databaseTls?: DatabaseTls | undefined;
  /** What stands before PostgreSQL: nothing that shares sessions, or a pooler by transaction. */
  databasePooling?: DatabasePooling;
}

/** `ca`: certificates as PEM text; absent: those that this Node trusts. */
export type DatabaseTls = { verify: true; ca?: string | undefined } | { verify: false };

export type DatabasePooling = 'session' | 'transaction';

/** What every PostgreSQL client here is opened with. */
export interface ConnectionSettings {
  connectionString: string;
  ssl?: { rejectUnauthorized: boolean; ca?: string };
}

/** Words of the address that say how to encrypt, which an explicit setting replaces. */
const TLS_WORDS = ['ssl', 'sslmode', 'sslrootcert', 'uselibpqcompat'];
/** PostgreSQL's own words that the client reads as `verify-full`, and says so in five lines. */
const READ_AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca'];

/** How to connect: the address, and TLS from the settings or else as the address says. */
export function connectionSettings(
  address: Pick<DatabaseAddress, 'databaseUrl' | 'databaseTls'>,
): ConnectionSettings {
  const { databaseUrl, databaseTls: tls } = address;
  if (!tls) return { connectionString: withPlainMode(databaseUrl) };
  const connectionString = withWords(databaseUrl, (words) => {
    for (const word of TLS_WORDS) words.delete(word);
  });
  if (!tls.verify) return { connectionString, ssl: { rejectUnauthorized: false } };
  return { connectionString, ssl: { rejectUnauthorized: true, ...(tls.ca && { ca: tls.ca }) } };
}

/** Whether connections are encrypted without anybody knowing who is at the other end. */
export function isUnverified({ databaseUrl, databaseTls: tls }: DatabaseAddress): boolean {
  if (tls) return !tls.verify;
  const words = wordsOf(databaseUrl);
  const mode = words.get('sslmode');
  if (words.get('uselibpqcompat') !== 'true') return mode === 'no-verify';
  return mode === 'prefer' || (mode === 'require' && !words.has('sslrootcert'));
}

/** The mode as the client means it: what it does stays the same, and it has nothing to warn of. */
function withPlainMode(url: string): string {
  const words = wordsOf(url);
  const mode = words.get('sslmode') ?? '';
  if (words.get('uselibpqcompat') === 'true' || !READ_AS_VERIFY_FULL.includes(mode)) return url;
  return withWords(url, (changed) => changed.set('sslmode', 'verify-full'));
}

function wordsOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?', 2)[1] ?? '');
}

/** The rest of the address stays as it is written: not every one is a URL by the standard. */
function withWords(url: string, change: (words: URLSearchParams) => void): string {
  const words = wordsOf(url);
  change(words);
  const base = url.split('?', 1)[0]!;
  return words.size > 0 ? `${base}?${words}` : base;
}
