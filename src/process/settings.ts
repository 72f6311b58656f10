/**
 * Every environment variable, as JSON Schema: the one source for validation at boot,
 * for `.env.example` and for the table of the README.
 */
const port = { type: 'integer', minimum: 0, maximum: 65_535 };
const concurrency = { type: 'integer', minimum: 1, maximum: 200 };
const url = { type: 'string', pattern: '^https?://' };

/** A number of milliseconds; no timer goes further. */
const duration = { type: 'integer', maximum: 2_147_483_647 };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const settings = {
  MALIPO_ENV: {
    enum: ['development', 'sandbox', 'production'],
    default: 'development',
    description: 'Where this runs. `production` refuses simulators and default or missing secrets',
  },
  LOG_LEVEL: {
    enum: ['error', 'warn', 'info', 'debug'],
    default: 'info',
    description: 'The least severe log line that is written',
  },
  HOST: {
    type: 'string',
    default: '127.0.0.1',
    description:
      'Address that the API listens on; `0.0.0.0` for all. With the development key only this machine’s own',
  },
  PORT: { ...port, default: 8080, description: 'Port of the API; `0` picks a free one' },
  METRICS_PORT: {
    ...port,
    default: 9464,
    description:
      'Operators’ port of each process, with `/healthz`, `/readyz` and `/metrics`: this one or the next that is free, as the log says; `0` picks any',
  },
  METRICS_HOST: {
    type: 'string',
    default: '127.0.0.1',
    description: 'Address that the operators’ port listens on; never one that strangers reach',
  },
  METRICS_TOKEN: {
    type: 'string',
    minLength: 32,
    description:
      'Makes the API serve `/metrics` of its process too, to whoever sends this as a bearer token. Default: it does not',
  },
  PUBLIC_URL: {
    ...url,
    description:
      'Where merchants reach the API, without path. Default: this machine. Required in production',
  },
  TRUST_PROXY: {
    type: 'string',
    description:
      'Whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses, networks, `loopback`, or how many proxies there are. Default: nobody’s',
  },
  TLS_CERT: {
    type: 'string',
    description: 'File with the certificate chain, to serve HTTPS without a proxy',
  },
  TLS_KEY: { type: 'string', description: 'File with the key of `TLS_CERT`' },
  REQUIRE_HTTPS: {
    type: 'boolean',
    description:
      'Whether plain requests and plain callback addresses are refused. Default: only in production',
  },
  RATE_LIMIT_PER_MINUTE: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 60,
    description: 'Requests that a merchant may make per minute in the long run',
  },
  RATE_LIMIT_BURST: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 100,
    description: 'Requests that a merchant may make at once',
  },
  GATEWAY_CALLBACK_URL: {
    ...url,
    description: 'Where gateways reach the API, if not at `PUBLIC_URL`',
  },
  DATABASE_URL: {
    type: 'string',
    pattern: '^postgres(ql)?://',
    description: 'PostgreSQL 15 to 18. Required',
  },
  DATABASE_SSL: {
    type: 'string',
    enum: ['verify', 'no-verify'],
    description:
      'How connections to PostgreSQL are encrypted: `verify` proves the server’s certificate and host name, `no-verify` proves nothing. Default: `verify` with `DATABASE_CA`, else as `sslmode` in `DATABASE_URL` says',
  },
  DATABASE_CA: {
    type: 'string',
    description:
      'Certificates that PostgreSQL’s own must be signed by: a file, or the PEM text. Default: those that Node trusts',
  },
  DATABASE_POOLING: {
    type: 'string',
    enum: ['session', 'transaction'],
    default: 'session',
    description:
      '`transaction` when a pooler such as PgBouncer lends `DATABASE_URL`’s connections by transaction; queues in PostgreSQL do not work through one',
  },
  DATABASE_MIGRATION_URL: {
    type: 'string',
    pattern: '^postgres(ql)?://',
    description:
      'PostgreSQL itself, past the pooler, for the release step. Default: `DATABASE_URL`',
  },
  DATABASE_POOL_MAX: {
    type: 'integer',
    minimum: 2,
    maximum: 200,
    description:
      'Database connections of one process, those of a PostgreSQL queue backend not counted. Default: by what the process does, 18 in all with one process of each type',
  },
  REDIS_URL: {
    type: 'string',
    pattern: '^rediss?://',
    description:
      'Redis for the job queues, `rediss://` by TLS. Without it the queues live in PostgreSQL (small installations)',
  },
  REDIS_CA: {
    type: 'string',
    description:
      'Certificates that Redis’s own must be signed by: a file, or the PEM text. Default: those that Node trusts',
  },
  REDIS_CLUSTER: {
    type: 'boolean',
    default: false,
    description:
      'Whether `REDIS_URL` is a Redis Cluster. It may then name several nodes: `redis://user:password@node1:6379,node2:6379`',
  },
  SECRETS_KEY: {
    type: 'string',
    description:
      'Keys that encrypt app secrets and sign gateway callback addresses: `id:base64 of 32 bytes`, comma-separated; the first encrypts, all decrypt. Required in production',
  },
  JWT_KEYS: {
    type: 'string',
    description:
      'Keys that sign access tokens, in the form of `SECRETS_KEY`; the first signs, all verify. Required in production',
  },
  CHANNELS: {
    type: 'string',
    description:
      'Which driver serves which payment channel: `63902=simulator,…`. Default: the simulator for mobile money. Required in production',
  },
  SIMULATOR_URL: {
    ...url,
    description: 'Address of the gateway simulator. Default: `http://127.0.0.1:8090`',
  },
  SIMULATOR_SETTLING_WINDOW_MS: {
    ...duration,
    minimum: 0,
    default: 2_000,
    description: 'How long after a submission a simulator’s “not found” proves nothing',
  },
  GATEWAY_TIMEOUT_MS: {
    type: 'integer',
    minimum: 100,
    maximum: 20_000,
    default: 15_000,
    description: 'How long a gateway’s answer is awaited; then the outcome is unknown',
  },
  DEFAULT_COMMISSION_BPS: {
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    default: 150,
    description: 'Commission on collections in basis points, for merchants without their own rate',
  },
  DEFAULT_COMMISSION_FIXED_CENTS: {
    type: 'integer',
    minimum: 0,
    maximum: 99_999_999,
    default: 0,
    description: 'Fixed part of the commission in cents, likewise',
  },
  COLLECTION_DEADLINE_MS: {
    ...duration,
    minimum: 1_000,
    default: 10 * MINUTE_MS,
    description: 'When an open collection counts as overdue',
  },
  DEFAULT_PAYOUT_FEE_BPS: {
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: 'Fee on payouts in basis points, for merchants without their own',
  },
  DEFAULT_PAYOUT_FEE_FIXED_CENTS: {
    type: 'integer',
    minimum: 0,
    maximum: 99_999_999,
    default: 0,
    description: 'Fixed part of the payout fee in cents, likewise',
  },
  MOBILE_PAYOUT_DEADLINE_MS: {
    ...duration,
    minimum: 1_000,
    default: 4 * HOUR_MS,
    description: 'When an open payout to a phone counts as overdue',
  },
  BANK_PAYOUT_DEADLINE_MS: {
    ...duration,
    minimum: 1_000,
    default: 48 * HOUR_MS,
    description: 'When an open payout to a bank account counts as overdue',
  },
  REVERSAL_WAIT_MS: {
    ...duration,
    minimum: 0,
    maximum: 20_000,
    default: 10_000,
    description:
      'How long initiating a reversal waits for the gateway to acknowledge it; then it answers 502 and goes on',
  },
  SUBMISSION_PAUSED: {
    type: 'boolean',
    default: false,
    description:
      'Whether nothing is submitted to any gateway and no payout is refunded, while all else goes on: for a restored database',
  },
  POLL_FIRST_MS: {
    ...duration,
    minimum: 10,
    default: 5_000,
    description:
      'How long after a submission the gateway is first asked for the outcome; later questions back off',
  },
  SUBMISSION_CONCURRENCY: {
    ...concurrency,
    default: 10,
    description: 'Submissions under way at once, per gateway and process',
  },
  SETTLEMENT_CONCURRENCY: {
    ...concurrency,
    default: 10,
    description: 'Status queries per gateway, and stored callbacks, under way at once per process',
  },
  REFUNDS_CONCURRENCY: {
    ...concurrency,
    default: 5,
    description: 'Returns to customers under way at once per process',
  },
  WEBHOOKS_CONCURRENCY: {
    ...concurrency,
    default: 20,
    description: 'Webhook deliveries under way at once per process',
  },
  WEBHOOK_TIMEOUT_MS: {
    type: 'integer',
    minimum: 100,
    maximum: 20_000,
    default: 10_000,
    description: 'How long one webhook attempt may take in all',
  },
  WEBHOOK_ENDPOINT_CONCURRENCY: {
    ...concurrency,
    default: 8,
    description: 'Webhooks under way at once to one endpoint of a merchant, over all processes',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    type: 'boolean',
    description:
      'Whether webhooks may go to private and loopback addresses. Default: only outside production',
  },
  JOB_LOCK_MS: {
    ...duration,
    minimum: 1_000,
    default: 30_000,
    description: 'After how long without a sign of life a worker’s job is given to another',
  },
  SWEEP_INTERVAL_MS: {
    ...duration,
    minimum: 100,
    default: 5_000,
    description: 'How often the sweeper looks for due steps whose job was lost',
  },
  SWEEP_GRACE_MS: {
    ...duration,
    minimum: 100,
    default: 30_000,
    description: 'How long a step may be due before the sweeper enqueues it again',
  },
  LEDGER_VERIFY_INTERVAL_MS: {
    ...duration,
    minimum: 1_000,
    default: HOUR_MS,
    description: 'How often the dispatcher proves the books, as `ledger verify` does',
  },
  SHUTDOWN_TIMEOUT_MS: {
    ...duration,
    minimum: 1_000,
    default: 25_000,
    description:
      'How long a stopping process has in all, from the signal on: the drain, then running requests and jobs',
  },
  DRAIN_DELAY_MS: {
    ...duration,
    minimum: 0,
    maximum: MINUTE_MS,
    default: 5_000,
    description:
      'How long a web process goes on serving after SIGTERM, while `/readyz` says no, so that load balancers learn of it',
  },
} as const satisfies Record<string, { description: string; [keyword: string]: unknown }>;
