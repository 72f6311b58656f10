import type { DatabaseTls } from './database-address.ts';

/** What the environment says of how PostgreSQL and Redis are reached. */
interface Raw {
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
  if (raw.REDIS_CA && !raw.REDIS_URL?.startsWith('rediss:')) {
    problems.push('REDIS_CA needs a REDIS_URL that begins with rediss://');
  }
  if (raw.REDIS_CLUSTER && !raw.REDIS_URL) problems.push('REDIS_CLUSTER needs a REDIS_URL');
  return problems;
}

/** A CA is given to be used: with it alone, the certificate is proven. */
export function databaseTlsOf(
  { DATABASE_SSL }: Raw,
  ca: string | undefined,
): DatabaseTls | undefined {
  if (DATABASE_SSL === 'no-verify') return { verify: false };
  return DATABASE_SSL === 'verify' || ca ? { verify: true, ca } : undefined;
}
