import { z } from 'zod';
import { certificatesFromText } from '../connections/certificates.ts';
import { channelsFromText } from '../domain/channels/channel.ts';
import { MAX_GATEWAY_TIMEOUT_MS } from '../domain/submission/call-limits.ts';
import { darajaConfigFromText } from '../gateways/daraja/config.ts';
import { DEVELOPMENT_KEYS, keyRingFromText } from './key-ring.ts';
import { networksFromText } from './networks.ts';
import {
  contact,
  duration,
  flag,
  httpUrl,
  integer,
  oneOf,
  parsed,
  text,
  url,
} from './setting-types.ts';
import { trustedProxiesFromText } from './trusted-proxies.ts';

/**
 * Every environment variable, once. The types, the checks at boot, `.env.example` and
 * `docs/settings.md` are made from this: `npm run settings` writes the two files. Rules across
 * variables are in `setting-rules.ts`.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A stopping process must be able to wait for as long. */
const MAX_WAIT_MS = 20_000;
const MAX_PORT = 65_535;
const MAX_CONCURRENCY = 200;
const MAX_RATE = 100_000;
const MAX_BPS = 10_000;
const MAX_FIXED_CENTS = 99_999_999;

/** Marks what `NAME_FILE` may give as the path of a file: `secret-files.ts` reads it. */
const SECRET = { secret: true };

const PROCESS = {
  MALIPO_ENV: oneOf('development', 'sandbox', 'production')
    .default('development')
    .describe(
      'Kind of installation. `production` refuses simulators, weak or missing secrets, and settings that open the service to strangers',
    ),
  LOG_LEVEL: oneOf('error', 'warn', 'info', 'debug')
    .default('info')
    .describe('The least severe log line that is written'),
  METRICS_PORT: integer(0, MAX_PORT)
    .default(9464)
    .describe(
      'Operators’ port of each process, with `/healthz`, `/readyz` and `/metrics`. If it is taken, the process uses the next free one and logs it. `0` picks any free one',
    ),
  METRICS_HOST: text()
    .default('127.0.0.1')
    .describe('Address that the operators’ port listens on. Strangers must never reach it'),
  SHUTDOWN_TIMEOUT_MS: duration(1_000)
    .default(25_000)
    .describe(
      'Time that a stopping process has in all, from the signal on: the drain, then running requests and jobs',
    ),
  DRAIN_DELAY_MS: duration(0, MINUTE_MS)
    .default(5_000)
    .describe(
      'Time for which a web process still serves after SIGTERM, while `/readyz` says no, so that load balancers notice',
    ),
};

const API = {
  HOST: text()
    .default('127.0.0.1')
    .describe(
      'Address that the API listens on; `0.0.0.0` means all. With the development key, only an address of this machine alone is accepted',
    ),
  PORT: integer(0, MAX_PORT).default(8080).describe('Port of the API. `0` picks a free one'),
  PUBLIC_URL: httpUrl()
    .optional()
    .describe(
      'Address at which merchants reach the API, without path. Default: the web process’s own `HOST` and `PORT`. Required in production',
    )
    .meta({ example: 'https://pay.example.com' }),
  GATEWAY_CALLBACK_URL: httpUrl()
    .optional()
    .describe(
      'Address at which gateways reach the API. Default: `PUBLIC_URL`, or else the address of the web process that started last, which it records in the database',
    )
    .meta({ example: 'https://callbacks.example.com' }),
  TRUST_PROXY: parsed(trustedProxiesFromText)
    .optional()
    .describe(
      'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses, networks, `loopback`, or how many proxies there are. Default: none. Production needs this or `TLS_CERT`, and refuses networks that cover the world',
    ),
  TLS_CERT: text()
    .optional()
    .describe('File with the certificate chain, to serve HTTPS without a proxy'),
  TLS_KEY: text().optional().describe('File with the key of `TLS_CERT`'),
  REQUIRE_HTTPS: flag()
    .optional()
    .describe('Refuses plain requests and plain callback addresses. Default: only in production'),
  RATE_LIMIT_PER_MINUTE: integer(1, MAX_RATE)
    .default(60)
    .describe('Requests that a merchant may make per minute in the long run'),
  RATE_LIMIT_BURST: integer(1, MAX_RATE)
    .default(100)
    .describe('Requests that a merchant may make at once'),
  SECURITY_CONTACT: contact()
    .optional()
    .describe(
      'Where people report a vulnerability of this installation. Makes the API serve `/.well-known/security.txt`. Default: it does not',
    )
    .meta({ example: 'mailto:security@pay.example.com' }),
  METRICS_TOKEN: text(32)
    .optional()
    .describe(
      'Makes the API serve `/metrics` of its process too, to whoever sends this as a bearer token. Default: it does not',
    )
    .meta(SECRET),
};

const STORES = {
  DATABASE_URL: url('postgres', 'postgresql')
    .describe('Address of PostgreSQL, version 15 to 18')
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
      'Address of PostgreSQL itself, past the pooler, for the release step. Default: `DATABASE_URL`',
    )
    .meta(SECRET),
  DATABASE_POOL_MAX: integer(2, 200)
    .optional()
    .describe(
      'Database connections of one process, without those of a PostgreSQL queue backend. Default: by the type of process, 18 in all with one process of each type',
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
};

const KEYS = {
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
};

const SIMULATED_CHANNELS = '63902=simulator,63903=simulator,63907=simulator';

const GATEWAYS = {
  CHANNELS: parsed(channelsFromText)
    .prefault(SIMULATED_CHANNELS)
    .describe(
      'Driver of each payment channel: `63902=simulator,…`. Default: the simulator for mobile money. Required in production',
    )
    .meta({ example: SIMULATED_CHANNELS }),
  GATEWAY_TIMEOUT_MS: duration(100, MAX_GATEWAY_TIMEOUT_MS)
    .default(15_000)
    .describe('Longest wait for a gateway’s answer. After it the outcome is unknown'),
  SUBMISSION_PAUSED: flag()
    .default(false)
    .describe(
      'Submits nothing to any gateway and refunds no payout, while all else goes on: for a restored database',
    ),
  GATEWAY_CALLBACK_SOURCES: parsed(networksFromText)
    .optional()
    .describe(
      'Addresses and networks from which gateways call back. Callbacks from elsewhere are refused. Default: all, since each address of a callback proves itself',
    )
    .meta({ example: '196.201.212.0/24,196.201.213.0/24,196.201.214.0/24' }),
  DARAJA: parsed(darajaConfigFromText)
    .optional()
    .describe(
      'Accounts with Safaricom’s Daraja (M-PESA): a file, or the JSON text. docs/gateways.md has its form. Required when `CHANNELS` names the driver `daraja`',
    )
    .meta({ example: '/etc/malipo/daraja.json' }),
  DARAJA_SETTLING_WINDOW_MS: duration(0)
    .default(10 * MINUTE_MS)
    .describe('Time after a payout in which “does not exist” of Daraja proves nothing'),
  DARAJA_ANSWER_WINDOW_MS: duration(100, 10 * MINUTE_MS)
    .default(30_000)
    .describe('Time in which Daraja answers a question about a payout or reversal'),
  SIMULATOR_URL: httpUrl()
    .default('http://127.0.0.1:8090')
    .describe('Address of the gateway simulator'),
  SIMULATOR_SETTLING_WINDOW_MS: duration(0)
    .default(2_000)
    .describe('Time after a submission in which a simulator’s “not found” proves nothing'),
};

const PAYMENTS = {
  DEFAULT_COMMISSION_BPS: integer(0, MAX_BPS)
    .default(150)
    .describe('Commission on collections in basis points, for merchants without their own rate'),
  DEFAULT_COMMISSION_FIXED_CENTS: integer(0, MAX_FIXED_CENTS)
    .default(0)
    .describe('Fixed part of that commission in cents'),
  DEFAULT_PAYOUT_FEE_BPS: integer(0, MAX_BPS)
    .default(0)
    .describe('Fee on payouts in basis points, for merchants without their own'),
  DEFAULT_PAYOUT_FEE_FIXED_CENTS: integer(0, MAX_FIXED_CENTS)
    .default(0)
    .describe('Fixed part of that fee in cents'),
  COLLECTION_DEADLINE_MS: duration(1_000)
    .default(10 * MINUTE_MS)
    .describe('Age at which an open collection counts as overdue'),
  MOBILE_PAYOUT_DEADLINE_MS: duration(1_000)
    .default(4 * HOUR_MS)
    .describe('Age at which an open payout to a phone counts as overdue'),
  BANK_PAYOUT_DEADLINE_MS: duration(1_000)
    .default(48 * HOUR_MS)
    .describe('Age at which an open payout to a bank account counts as overdue'),
  REVERSAL_WAIT_MS: duration(0, MAX_WAIT_MS)
    .default(10_000)
    .describe(
      'Time for which a request for a reversal waits until the gateway acknowledges it. Then it answers 502 and the reversal goes on',
    ),
  POLL_FIRST_MS: duration(10)
    .default(5_000)
    .describe(
      'Time from a submission to the first question to the gateway for its outcome. Later questions back off',
    ),
};

const WORKERS = {
  SUBMISSION_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(10)
    .describe('Submissions under way at once, per gateway and process'),
  SETTLEMENT_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(10)
    .describe('Status queries per gateway, and stored callbacks, under way at once per process'),
  REFUNDS_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(5)
    .describe(
      'Refunds of payouts, and returns to customers per gateway, under way at once per process',
    ),
  JOB_LOCK_MS: duration(1_000)
    .default(30_000)
    .describe('Time without a sign of life after which a worker’s job is given to another worker'),
  SWEEP_INTERVAL_MS: duration(100)
    .default(5_000)
    .describe('Interval at which the sweeper looks for due steps whose job was lost'),
  SWEEP_GRACE_MS: duration(100)
    .default(30_000)
    .describe('Time for which a step may be due before the sweeper enqueues it again'),
  LEDGER_VERIFY_INTERVAL_MS: duration(1_000)
    .default(HOUR_MS)
    .describe('Interval at which the dispatcher proves the books, as `ledger verify` does'),
};

const WEBHOOKS = {
  WEBHOOKS_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(20)
    .describe('Webhook deliveries under way at once per process'),
  WEBHOOK_ENDPOINT_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(8)
    .describe('Webhooks under way at once to one endpoint of a merchant, over all processes'),
  WEBHOOK_TIMEOUT_MS: duration(100, MAX_WAIT_MS)
    .default(10_000)
    .describe('Longest time that one webhook attempt may take in all'),
  WEBHOOK_ALLOW_PRIVATE: flag()
    .optional()
    .describe(
      'Allows webhooks to private and loopback addresses. Default: only outside production, which refuses it',
    ),
  WEBHOOK_BLOCK: parsed(networksFromText)
    .optional()
    .describe(
      'Addresses and networks to which no webhook goes, whatever else is allowed: public ones of your own, behind which there is more than the public may see',
    )
    .meta({ example: '203.0.113.0/24,2001:db8::/32' }),
};

/** The settings by topic, in the order in which the documents show them. */
export const TOPICS = {
  'Every process': PROCESS,
  'The API': API,
  'PostgreSQL and Redis': STORES,
  Keys: KEYS,
  Gateways: GATEWAYS,
  Payments: PAYMENTS,
  Workers: WORKERS,
  Webhooks: WEBHOOKS,
};

export const settings = z.object({
  ...PROCESS,
  ...API,
  ...STORES,
  ...KEYS,
  ...GATEWAYS,
  ...PAYMENTS,
  ...WORKERS,
  ...WEBHOOKS,
});

export type Settings = z.infer<typeof settings>;
