import { isIP } from 'node:net';
import { Ajv, type ErrorObject } from 'ajv';
import { certificatesFromText } from '../connections/certificates.ts';
import { databaseTlsOf, storeProblems } from '../connections/store-settings.ts';
import { channelsFromText } from '../domain/channels/channel.ts';
import { DEVELOPMENT_KEYS, hasDevelopmentKey, type KeyRing, keyRingFromText } from './key-ring.ts';
import { settings } from './settings.ts';
import { shutdownProblems } from './shutdown-budget.ts';

/** Everything that the environment decides, validated and frozen. Amounts are cents, times ms. */
export type Config = Readonly<ReturnType<typeof derive>>;

/** The environment is wrong; the message names every bad variable, one a line, and no value. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

interface Raw {
  MALIPO_ENV: 'development' | 'sandbox' | 'production';
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug';
  HOST: string;
  PORT: number;
  METRICS_PORT: number;
  METRICS_HOST: string;
  METRICS_TOKEN?: string;
  PUBLIC_URL?: string;
  TRUST_PROXY?: string;
  TLS_CERT?: string;
  TLS_KEY?: string;
  REQUIRE_HTTPS?: boolean;
  RATE_LIMIT_PER_MINUTE: number;
  RATE_LIMIT_BURST: number;
  GATEWAY_CALLBACK_URL?: string;
  DATABASE_URL: string;
  DATABASE_SSL?: 'verify' | 'no-verify';
  DATABASE_CA?: string;
  DATABASE_POOLING: 'session' | 'transaction';
  DATABASE_MIGRATION_URL?: string;
  DATABASE_POOL_MAX?: number;
  REDIS_URL?: string;
  REDIS_CA?: string;
  REDIS_CLUSTER: boolean;
  SECRETS_KEY?: string;
  JWT_KEYS?: string;
  CHANNELS?: string;
  SIMULATOR_URL?: string;
  SIMULATOR_SETTLING_WINDOW_MS: number;
  GATEWAY_TIMEOUT_MS: number;
  DEFAULT_COMMISSION_BPS: number;
  DEFAULT_COMMISSION_FIXED_CENTS: number;
  COLLECTION_DEADLINE_MS: number;
  DEFAULT_PAYOUT_FEE_BPS: number;
  DEFAULT_PAYOUT_FEE_FIXED_CENTS: number;
  MOBILE_PAYOUT_DEADLINE_MS: number;
  BANK_PAYOUT_DEADLINE_MS: number;
  REVERSAL_WAIT_MS: number;
  SUBMISSION_PAUSED: boolean;
  POLL_FIRST_MS: number;
  SUBMISSION_CONCURRENCY: number;
  SETTLEMENT_CONCURRENCY: number;
  REFUNDS_CONCURRENCY: number;
  WEBHOOKS_CONCURRENCY: number;
  WEBHOOK_TIMEOUT_MS: number;
  WEBHOOK_ENDPOINT_CONCURRENCY: number;
  WEBHOOK_ALLOW_PRIVATE?: boolean;
  JOB_LOCK_MS: number;
  SWEEP_INTERVAL_MS: number;
  SWEEP_GRACE_MS: number;
  LEDGER_VERIFY_INTERVAL_MS: number;
  SHUTDOWN_TIMEOUT_MS: number;
  DRAIN_DELAY_MS: number;
}

/**
 * Reads the environment.
 * @throws ConfigError listing every bad variable at once.
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const raw: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(settings)) {
    // An empty variable counts as an absent one, as `NAME=` in a .env file means it.
    const text = environment[name];
    if (text) raw[name] = readText(text, schema);
  }
  const ajv = new Ajv({ allErrors: true, useDefaults: true });
  const validate = ajv.compile({
    type: 'object',
    properties: settings,
    required: ['DATABASE_URL'],
  });
  const problems = validate(raw) ? [] : (validate.errors ?? []).map(problemOf);
  const valid = raw as unknown as Raw;
  // Rules across variables read the rest as it is, so that one run lists every problem.
  const parsed = parseLists(valid, problems);
  if (valid.PORT === 0 && !valid.PUBLIC_URL) {
    problems.push('PUBLIC_URL is required when PORT is 0: gateways and merchants must know it');
  }
  if (valid.TRUST_PROXY && !isProxyList(valid.TRUST_PROXY)) {
    problems.push(
      'TRUST_PROXY must be a number of proxies from 1 to 10, or a list of addresses, networks and loopback',
    );
  }
  problems.push(...shutdownProblems(valid));
  problems.push(...storeProblems(valid));
  if (!valid.TLS_CERT !== !valid.TLS_KEY) problems.push('TLS_CERT and TLS_KEY go together');
  if (!/^(127\.|localhost$|::1$)/.test(valid.HOST) && usesDevelopmentKey(parsed)) {
    problems.push(
      'HOST must be an address of this machine alone while SECRETS_KEY or JWT_KEYS is the published development key',
    );
  }
  if (valid.MALIPO_ENV === 'production') problems.push(...productionProblems(valid, parsed));
  if (problems.length > 0) throw new ConfigError(problems.sort());
  const config = derive(valid, parsed);
  Object.freeze(config.commissionDefaults);
  Object.freeze(config.payoutFeeDefaults);
  Object.freeze(config.payoutDeadlinesMs);
  Object.freeze(config.concurrency);
  Object.freeze(config.rateLimit);
  return Object.freeze(config);
}

/** The value that a text stands for; a text that is none stays one, for the schema to refuse. */
function readText(text: string, schema: object): unknown {
  const type = 'type' in schema ? schema.type : undefined;
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

function problemOf(error: ErrorObject): string {
  if (error.keyword === 'required') return `${error.params.missingProperty} is required`;
  const allowed = error.keyword === 'enum' ? `: ${error.params.allowedValues.join(', ')}` : '';
  return `${error.instancePath.slice(1)} ${error.message}${allowed}`;
}

interface Lists {
  secretsKeys: KeyRing;
  jwtKeys: KeyRing;
  channels: ReadonlyMap<number, string>;
  databaseCa: string | undefined;
  redisCa: string | undefined;
}

const SIMULATED_CHANNELS = '63902=simulator,63903=simulator,63907=simulator';

function parseLists(raw: Raw, problems: string[]): Lists {
  const attempt = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}`);
      return undefined;
    }
  };
  const simulated = raw.MALIPO_ENV === 'production' ? '' : SIMULATED_CHANNELS;
  return {
    secretsKeys: attempt('SECRETS_KEY', () =>
      keyRingFromText(raw.SECRETS_KEY ?? DEVELOPMENT_KEYS),
    )!,
    jwtKeys: attempt('JWT_KEYS', () => keyRingFromText(raw.JWT_KEYS ?? DEVELOPMENT_KEYS))!,
    channels: attempt('CHANNELS', () => channelsFromText(raw.CHANNELS ?? simulated))!,
    databaseCa: raw.DATABASE_CA
      ? attempt('DATABASE_CA', () => certificatesFromText(raw.DATABASE_CA!))
      : undefined,
    redisCa: raw.REDIS_CA
      ? attempt('REDIS_CA', () => certificatesFromText(raw.REDIS_CA!))
      : undefined,
  };
}

function usesDevelopmentKey({ secretsKeys, jwtKeys }: Lists): boolean {
  return [secretsKeys, jwtKeys].some((keys) => keys && hasDevelopmentKey(keys));
}

function productionProblems(raw: Raw, lists: Lists): string[] {
  const problems: string[] = [];
  const required = ['SECRETS_KEY', 'JWT_KEYS', 'PUBLIC_URL', 'CHANNELS'] as const;
  for (const name of required) {
    if (!raw[name]) problems.push(`${name} is required in production`);
  }
  for (const name of ['SECRETS_KEY', 'JWT_KEYS'] as const) {
    const keys = name === 'SECRETS_KEY' ? lists.secretsKeys : lists.jwtKeys;
    if (raw[name] && keys && hasDevelopmentKey(keys)) {
      problems.push(`${name} contains the published development key, which production refuses`);
    }
  }
  if (raw.CHANNELS && lists.channels?.size === 0) problems.push('CHANNELS must name a channel');
  if (raw.PUBLIC_URL?.startsWith('http:')) problems.push('PUBLIC_URL must be https in production');
  if (!raw.TRUST_PROXY && !raw.TLS_CERT && raw.REQUIRE_HTTPS !== false) {
    problems.push(
      'TRUST_PROXY is required in production, or TLS_CERT and TLS_KEY: HTTPS must end somewhere (or set REQUIRE_HTTPS=false)',
    );
  }
  if (raw.CHANNELS?.includes('simulator') || raw.SIMULATOR_URL) {
    problems.push('CHANNELS and SIMULATOR_URL must not name the simulator in production');
  }
  return problems;
}

function derive(raw: Raw, { databaseCa, redisCa, ...keysAndChannels }: Lists) {
  const publicUrl = withoutSlash(raw.PUBLIC_URL ?? `http://127.0.0.1:${raw.PORT}`);
  return {
    env: raw.MALIPO_ENV,
    logLevel: raw.LOG_LEVEL,
    host: raw.HOST,
    port: raw.PORT,
    metricsPort: raw.METRICS_PORT,
    metricsHost: raw.METRICS_HOST,
    metricsToken: raw.METRICS_TOKEN,
    publicUrl,
    trustProxy: trustProxyOf(raw.TRUST_PROXY),
    tls: raw.TLS_CERT && raw.TLS_KEY ? { cert: raw.TLS_CERT, key: raw.TLS_KEY } : null,
    requireHttps: raw.REQUIRE_HTTPS ?? raw.MALIPO_ENV === 'production',
    rateLimit: { perMinute: raw.RATE_LIMIT_PER_MINUTE, burst: raw.RATE_LIMIT_BURST },
    gatewayCallbackUrl: withoutSlash(raw.GATEWAY_CALLBACK_URL ?? publicUrl),
    databaseUrl: raw.DATABASE_URL,
    databaseTls: databaseTlsOf(raw, databaseCa),
    databasePooling: raw.DATABASE_POOLING,
    databaseMigrationUrl: raw.DATABASE_MIGRATION_URL,
    databasePoolMax: raw.DATABASE_POOL_MAX,
    redisUrl: raw.REDIS_URL,
    redisCa,
    redisCluster: raw.REDIS_CLUSTER,
    ...keysAndChannels,
    simulatorUrl: withoutSlash(raw.SIMULATOR_URL ?? 'http://127.0.0.1:8090'),
    simulatorSettlingWindowMs: raw.SIMULATOR_SETTLING_WINDOW_MS,
    gatewayTimeoutMs: raw.GATEWAY_TIMEOUT_MS,
    commissionDefaults: {
      bps: raw.DEFAULT_COMMISSION_BPS,
      fixedCents: raw.DEFAULT_COMMISSION_FIXED_CENTS,
    },
    payoutFeeDefaults: {
      bps: raw.DEFAULT_PAYOUT_FEE_BPS,
      fixedCents: raw.DEFAULT_PAYOUT_FEE_FIXED_CENTS,
    },
    collectionDeadlineMs: raw.COLLECTION_DEADLINE_MS,
    payoutDeadlinesMs: {
      'Mobile Money': raw.MOBILE_PAYOUT_DEADLINE_MS,
      Bank: raw.BANK_PAYOUT_DEADLINE_MS,
    },
    reversalWaitMs: raw.REVERSAL_WAIT_MS,
    submissionPaused: raw.SUBMISSION_PAUSED,
    pollFirstMs: raw.POLL_FIRST_MS,
    concurrency: {
      submission: raw.SUBMISSION_CONCURRENCY,
      settlement: raw.SETTLEMENT_CONCURRENCY,
      refunds: raw.REFUNDS_CONCURRENCY,
      webhooks: raw.WEBHOOKS_CONCURRENCY,
    },
    webhookTimeoutMs: raw.WEBHOOK_TIMEOUT_MS,
    webhookEndpointConcurrency: raw.WEBHOOK_ENDPOINT_CONCURRENCY,
    webhookAllowPrivate: raw.WEBHOOK_ALLOW_PRIVATE ?? raw.MALIPO_ENV !== 'production',
    jobLockMs: raw.JOB_LOCK_MS,
    sweepIntervalMs: raw.SWEEP_INTERVAL_MS,
    sweepGraceMs: raw.SWEEP_GRACE_MS,
    ledgerVerifyIntervalMs: raw.LEDGER_VERIFY_INTERVAL_MS,
    shutdownTimeoutMs: raw.SHUTDOWN_TIMEOUT_MS,
    drainDelayMs: raw.DRAIN_DELAY_MS,
  };
}

function isProxyList(text: string): boolean {
  return /^([1-9]|10)$/.test(text) || text.split(',').every((item) => isProxy(item.trim()));
}

function isProxy(item: string): boolean {
  const [address = '', bits, ...rest] = item.split('/');
  const version = isIP(address);
  if (version === 0) return ['loopback', 'linklocal', 'uniquelocal'].includes(item);
  const isLength =
    bits === undefined ||
    (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 6 ? 128 : 32));
  return isLength && rest.length === 0;
}

/** As Express takes it: a number of proxies, or whose addresses they are. */
function trustProxyOf(text: string | undefined): number | string[] | false {
  if (text === undefined) return false;
  return /^\d+$/.test(text) ? Number(text) : text.split(',').map((item) => item.trim());
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
