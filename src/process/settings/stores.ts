import { z } from 'zod';
import { certificatesFromText } from '../../connections/address.ts';
import { DEVELOPMENT_KEYS, keyRingFromText } from '../key-ring.ts';
import { flag, integer, oneOf, parsed, SECRET, url } from '../setting-types.ts';

export const STORES = {
  DATABASE_URL: url('postgres', 'postgresql')
    .describe('Address of PostgreSQL, version 15 to 18, as the role of the service')
    .meta({ ...SECRET, example: 'postgres://malipo:password@localhost:5432/malipo' }),
  DATABASE_SSL: oneOf('verify', 'no-verify')
    .optional()
    .describe(
      'Encryption of connections to PostgreSQL: `verify` proves the server’s certificate and host name, `no-verify` proves nothing. Default: `verify` with `DATABASE_CA`, else as `sslmode` in `DATABASE_URL` says',
    )
    .meta({ example: 'verify' }),
  DATABASE_CA: parsed(certificatesFromText)
    .optional()
    .describe(
      'Certificates that must have signed PostgreSQL’s own: a file, or the PEM text. Default: those that Node trusts',
    )
    .meta({ example: '/etc/malipo/postgres-ca.pem' }),
  DATABASE_POOLING: oneOf('session', 'transaction')
    .default('session')
    .describe(
      '`transaction` when a pooler such as PgBouncer lends the connections of `DATABASE_URL` by transaction. Queues in PostgreSQL do not work through one',
    ),
  DATABASE_POOLER_PREPARES: flag()
    .default(false)
    .describe(
      'Says that a pooler by transaction knows prepared statements: PgBouncer from 1.21 on with `max_prepared_statements`. PostgreSQL then keeps the plans of statements, which saves CPU time',
    ),
  DATABASE_MIGRATION_URL: url('postgres', 'postgresql')
    .optional()
    .describe(
      'Address of PostgreSQL for the release step: as the role that owns the tables, and past a pooler. The role of `DATABASE_URL` then gets its rights from the release step, and needs none of its own. Only the release step needs to know it. Default: `DATABASE_URL`',
    )
    .meta(SECRET),
  DATABASE_SYNCHRONOUS_STANDBY: flag()
    .default(false)
    .describe(
      'Lets payments go on by themselves after a failover to a standby that PostgreSQL waits for with every commit. The dispatcher sees in PostgreSQL’s own settings whether it does. The `cluster_name` of the standby must be its name in `synchronous_standby_names`',
    ),
  DATABASE_POOL_MAX: integer(2, 200)
    .optional()
    .describe(
      'Database connections of one process, without the connections of a PostgreSQL queue backend. Default: by the type of process, 22 in all with one process of each type',
    ),
  REDIS_URL: url('redis', 'rediss')
    .optional()
    .describe(
      'Redis for the job queues; `rediss://` uses TLS. Without it the queues are in PostgreSQL (small installations)',
    )
    .meta({ ...SECRET, example: 'redis://localhost:6379' }),
  REDIS_CA: parsed(certificatesFromText)
    .optional()
    .describe(
      'Certificates that must have signed Redis’s own: a file, or the PEM text. Default: those that Node trusts',
    )
    .meta({ example: '/etc/malipo/redis-ca.pem' }),
  REDIS_CLUSTER: flag()
    .default(false)
    .describe(
      'Says that `REDIS_URL` is a Redis Cluster. It may then name several nodes: `redis://user:password@node1:6379,node2:6379`',
    ),
  REDIS_SENTINEL: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be the name of a primary, as Sentinels know it')
    .optional()
    .describe(
      'Name of the primary that Redis Sentinels watch. `REDIS_URL` then names the Sentinels: `redis://user:password@sentinel1:26379,sentinel2:26379`. User and password are of Redis itself; a Sentinel with a password has the same one',
    )
    .meta({ example: 'malipo' }),
};

export const KEYS = {
  SECRETS_KEY: parsed(keyRingFromText)
    .prefault(DEVELOPMENT_KEYS)
    .describe(
      'Keys that encrypt secrets of apps and sign gateway callback addresses: `id:base64 of 32 bytes`, comma-separated. The first encrypts, all decrypt. Default: the development key, which is published. Required in production',
    )
    .meta({ ...SECRET, example: 'k1:32-BYTES-IN-BASE64' }),
  JWT_KEYS: parsed(keyRingFromText)
    .prefault(DEVELOPMENT_KEYS)
    .describe(
      'Keys that sign access tokens, in the form of `SECRETS_KEY`. The first signs, all verify. Default: the development key. Required in production',
    )
    .meta({ ...SECRET, example: 'k1:32-BYTES-IN-BASE64' }),
  AGE_IDENTITY: z
    .string()
    .optional()
    .describe(
      'Identity that opens files of secrets which are encrypted by age, with other identities on lines of their own. Default: no file is encrypted',
    )
    .meta({ ...SECRET, example: 'AGE-SECRET-KEY-…' }),
};
