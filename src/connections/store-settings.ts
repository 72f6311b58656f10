import type { DatabaseTls } from './database-address.ts';

/** What the environment says of how PostgreSQL and Redis are reached. */
interface Raw {
  DATABASE_URL?: string;
  DATABASE_SSL?: 'verify' | 'no-verify';
  DATABASE_CA?: string;
  DATABASE_POOLING: 'session' | 'transaction';
  REDIS_URL?: string;
  REDIS_CA?: string;
  REDIS_CLUSTER: boolean;
}

/** Settings of PostgreSQL and Redis that contradict each other. */
export function storeProblems(raw: Raw): string[] {
  const problems: string[] = [];
  if (raw.DATABASE_CA && raw.DATABASE_SSL === 'no-verify') {
    problems.push('DATABASE_CA proves nothing with DATABASE_SSL=no-verify: remove one of them');
  }
  if (raw.DATABASE_POOLING === 'transaction' && !raw.REDIS_URL) {
    problems.push(
      'DATABASE_POOLING must be session while the queues are in PostgreSQL: set REDIS_URL, or give DATABASE_URL past the pooler',
    );
  }
  const clientCertificate = /[?&]ssl(cert|key)=/.test(raw.DATABASE_URL ?? '');
  if (clientCertificate && (raw.DATABASE_CA || raw.DATABASE_SSL)) {
    problems.push(
      'DATABASE_URL with sslcert or sslkey says all of TLS itself: remove DATABASE_CA and DATABASE_SSL',
    );
  }
  if (raw.REDIS_URL && !redisNodes(raw.REDIS_URL, raw.REDIS_CLUSTER).every(isAddress)) {
    problems.push(
      'REDIS_URL is no address: what is special in its password must be percent-encoded, as %2F for a slash',
    );
  }
  if (raw.REDIS_CA && !raw.REDIS_URL?.startsWith('rediss:')) {
    problems.push('REDIS_CA needs a REDIS_URL that begins with rediss://');
  }
  if (raw.REDIS_CLUSTER && !raw.REDIS_URL) problems.push('REDIS_CLUSTER needs a REDIS_URL');
  return problems;
}

/** The addresses in REDIS_URL; the scheme stands before the first only. */
function redisNodes(url: string, isCluster: boolean): string[] {
  const [first = '', ...others] = isCluster ? url.split(',') : [url];
  const scheme = url.split('://', 1)[0];
  return [first, ...others.map((node) => `${scheme}://${node.trim().replace(/^.*:\/\//, '')}`)];
}

/** Whether it can be read to its end, before a client says with the password in it that it cannot. */
function isAddress(text: string): boolean {
  try {
    const { hostname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return hostname !== '';
  } catch {
    return false;
  }
}

/** A CA is given to be used: with it alone, the certificate is proven. */
export function databaseTlsOf(
  { DATABASE_SSL }: Raw,
  ca: string | undefined,
): DatabaseTls | undefined {
  if (DATABASE_SSL === 'no-verify') return { verify: false };
  return DATABASE_SSL === 'verify' || ca ? { verify: true, ca } : undefined;
}
