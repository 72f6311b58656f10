import type { DatabaseTls } from '../connections/address.ts';
import { HOUR_MS } from '../time.ts';
import { givenText } from './secrets.ts';
import { brokenRules, type GivenTexts } from './setting-rules.ts';
import type { DriverSettings } from './setting-types.ts';
import { type Settings, settingsWith } from './settings.ts';

/** Everything that the environment decides, checked and frozen. Amounts are cents, times ms. */
export type Config = Readonly<ReturnType<typeof configOf>>;

/** The environment is wrong. The message names every bad variable, one per line, and no value. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/**
 * Reads the environment. @param drivers are the settings that gateway drivers add.
 * @throws ConfigError that lists every bad variable at once
 */
export function readConfig(
  environment: NodeJS.ProcessEnv,
  drivers: readonly DriverSettings[],
): Config {
  const given: GivenTexts = {};
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const unread: string[] = [];
  for (const [name, setting] of Object.entries(settingsWith(drivers))) {
    const { text, problem } = givenText(name, setting, environment);
    if (problem) {
      problems.push(problem);
      unread.push(name);
      continue;
    }
    given[name as keyof Settings] = text;
    const { data, error } = setting.safeParse(text);
    if (error) problems.push(`${name} ${error.issues[0]!.message}`);
    else values[name] = data;
  }
  const broken = brokenRules(given, values, environment, drivers);
  // Of what was not read nothing more is known.
  problems.push(...broken.filter((line) => !unread.includes(line.split(' ', 1)[0]!)));
  if (problems.length > 0) throw new ConfigError(problems.sort());
  const config = configOf(values, drivers);
  for (const value of Object.values(config)) Object.freeze(value);
  return Object.freeze(config);
}

/** Names the values in camelCase, and adds what follows from several of them. */
function configOf(all: Record<string, unknown>, drivers: readonly DriverSettings[]) {
  const { values, ofDrivers } = divided(all, drivers);
  const { SECRETS_KEY, AGE_IDENTITY: _, ...others } = values;
  const isProduction = values.MALIPO_ENV === 'production';
  const isDevelopment = values.MALIPO_ENV === 'development';
  return {
    ...inCamelCase(others),
    /** The values of each driver's own settings, by the driver's name. */
    drivers: ofDrivers,
    secretsKeys: SECRETS_KEY,
    /** Only the web process may use it without PUBLIC_URL: another process has another port. */
    publicUrl: values.PUBLIC_URL ?? ownAddress(values.HOST, values.PORT, values),
    consoleUrl: values.CONSOLE_URL ?? ownAddress(values.CONSOLE_HOST, values.CONSOLE_PORT, values),
    /** False when `consoleUrl` is only an address of this machine. */
    consoleUrlIsGiven: values.CONSOLE_URL !== undefined,
    /** Null when it is the web process that knows. */
    gatewayCallbackUrl: values.GATEWAY_CALLBACK_URL ?? values.PUBLIC_URL ?? null,
    trustProxy: values.TRUST_PROXY ?? (false as const),
    tls: values.TLS_CERT && values.TLS_KEY ? { cert: values.TLS_CERT, key: values.TLS_KEY } : null,
    requireHttps: values.REQUIRE_HTTPS ?? isProduction,
    newAccessHoldMs: values.NEW_ACCESS_HOLD_MS ?? (isProduction ? USUAL_HOLD_MS : 0),
    requireTotpFor: values.REQUIRE_TOTP_FOR ?? [],
    rateLimit: { perMinute: values.RATE_LIMIT_PER_MINUTE, burst: values.RATE_LIMIT_BURST },
    databaseTls: databaseTlsOf(values),
    commissionDefaults: {
      bps: values.DEFAULT_COMMISSION_BPS,
      fixedCents: values.DEFAULT_COMMISSION_FIXED_CENTS,
    },
    payoutFeeDefaults: {
      bps: values.DEFAULT_PAYOUT_FEE_BPS,
      fixedCents: values.DEFAULT_PAYOUT_FEE_FIXED_CENTS,
    },
    payoutDeadlinesMs: {
      'Mobile Money': values.MOBILE_PAYOUT_DEADLINE_MS,
      Bank: values.BANK_PAYOUT_DEADLINE_MS,
    },
    concurrency: {
      submission: values.SUBMISSION_CONCURRENCY,
      settlement: values.SETTLEMENT_CONCURRENCY,
      refunds: values.REFUNDS_CONCURRENCY,
      webhooks: values.WEBHOOKS_CONCURRENCY,
    },
    // Not in a sandbox: somebody may host one for others, who could look around inside with it.
    webhookAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE ?? isDevelopment,
    /** Null: any. */
    webhookPorts:
      values.WEBHOOK_PORTS ?? (isDevelopment || values.WEBHOOK_ALLOW_PRIVATE ? null : HTTPS_PORTS),
  };
}

/** Divides the values into the service's own and each driver's. */
function divided(all: Record<string, unknown>, drivers: readonly DriverSettings[]) {
  const own = { ...all };
  const ofDrivers = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { name, settings } of drivers) {
    const names = Object.keys(settings);
    ofDrivers.set(name, Object.freeze(Object.fromEntries(names.map((each) => [each, all[each]]))));
    for (const each of names) delete own[each];
  }
  return { values: own as Settings, ofDrivers: ofDrivers as DriverValues };
}

type DriverValues = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Where servers listen for HTTPS. A webhook must not speak to other services. */
const USUAL_HOLD_MS = 12 * HOUR_MS;
const HTTPS_PORTS: readonly number[] = [443, 8443];

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** Returns the address at which this machine reaches a server with these settings. */
function ownAddress(listensOn: string, port: number, { TLS_CERT }: Settings): string {
  const host = EVERY_ADDRESS.includes(listensOn) ? '127.0.0.1' : listensOn;
  return `${TLS_CERT ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A CA alone is reason enough to verify: it is given to be used. */
function databaseTlsOf({ DATABASE_SSL, DATABASE_CA: ca }: Settings): DatabaseTls | undefined {
  if (DATABASE_SSL === 'no-verify') return { verify: false };
  return DATABASE_SSL === 'verify' || ca ? { verify: true, ca } : undefined;
}

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

type InCamelCase<Values> = { [Name in keyof Values & string as CamelCase<Name>]: Values[Name] };

function inCamelCase<Values extends object>(values: Values): InCamelCase<Values> {
  const camelCase = (name: string) =>
    name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const entries = Object.entries(values).map(([name, value]) => [camelCase(name), value]);
  return Object.fromEntries(entries) as InCamelCase<Values>;
}
