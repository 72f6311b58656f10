import { hasDevelopmentKey } from './key-ring.ts';
import { isLocalHost } from './networks.ts';
import { productionRules, shutdownProblems } from './production-rules.ts';
import type { Check, DriverSettings } from './setting-types.ts';
import type { Settings } from './settings.ts';

export type GivenTexts = Partial<Record<keyof Settings, string>>;
/** The values of the texts and defaults. A variable with a wrong text has none. */
export type KnownValues = Partial<Settings>;

/**
 * Returns a line for each rule across variables that is broken. Each begins with a variable. The
 * environment also has variables that are not ours.
 */
export function brokenRules(
  given: GivenTexts,
  values: KnownValues,
  environment: NodeJS.ProcessEnv,
  drivers: readonly DriverSettings[],
): string[] {
  const broken = [
    ...apiRules(given, values),
    ...storeRules(given, values),
    ...driverRules(given, values, drivers),
    ...noticeRules(given),
    ...(values.MALIPO_ENV === 'production' ? productionRules(given, values, environment) : []),
  ].filter(([isBroken]) => isBroken);
  return [
    ...broken.map(([, line]) => line),
    // A time out of its range has no value, and still counts here.
    ...shutdownProblems((name) => Number(given[name] ?? values[name])),
  ];
}

function apiRules(given: GivenTexts, values: KnownValues): Check[] {
  const knownKeys = [values.SECRETS_KEY, values.JWT_KEYS].filter((keys) => keys !== undefined);
  return [
    [
      values.PORT === 0 && !given.PUBLIC_URL,
      'PUBLIC_URL is required when PORT is 0: gateways and merchants must know it',
    ],
    [
      values.CONSOLE_PORT === 0 && !given.CONSOLE_URL,
      'CONSOLE_URL is required when CONSOLE_PORT is 0: the console must know its own address',
    ],
    [!given.TLS_CERT !== !given.TLS_KEY, 'TLS_CERT and TLS_KEY go together'],
    [
      !isLocalHost(values.HOST ?? '') && knownKeys.some(hasDevelopmentKey),
      'HOST must be an address of this machine alone while SECRETS_KEY or JWT_KEYS is the published development key',
    ],
    [
      !isLocalHost(values.CONSOLE_HOST ?? '') && knownKeys.some(hasDevelopmentKey),
      'CONSOLE_HOST must be an address of this machine alone while SECRETS_KEY or JWT_KEYS is the published development key',
    ],
  ];
}

function storeRules(given: GivenTexts, values: KnownValues): Check[] {
  const hasClientCertificate = /[?&]ssl(cert|key)=/.test(given.DATABASE_URL ?? '');
  // A wrong text in REDIS_CLUSTER may have been meant as true.
  const mayHaveNodes = values.REDIS_CLUSTER !== false || Boolean(given.REDIS_SENTINEL);
  return [
    [
      given.DATABASE_CA && values.DATABASE_SSL === 'no-verify',
      'DATABASE_CA proves nothing with DATABASE_SSL=no-verify: remove one of them',
    ],
    [
      values.DATABASE_POOLING === 'transaction' && !given.REDIS_URL,
      'DATABASE_POOLING must be session while the queues are in PostgreSQL: set REDIS_URL, or give DATABASE_URL past the pooler',
    ],
    [
      values.DATABASE_POOLER_PREPARES && values.DATABASE_POOLING === 'session',
      'DATABASE_POOLER_PREPARES needs DATABASE_POOLING=transaction',
    ],
    [
      hasClientCertificate && (given.DATABASE_CA || given.DATABASE_SSL),
      'DATABASE_URL with sslcert or sslkey says all of TLS itself: remove DATABASE_CA and DATABASE_SSL',
    ],
    [
      given.REDIS_URL && !redisNodes(given.REDIS_URL, mayHaveNodes).every(isAddress),
      'REDIS_URL is no address: what is special in its password must be percent-encoded, as %2F for a slash',
    ],
    [
      given.REDIS_CA && !given.REDIS_URL?.startsWith('rediss:'),
      'REDIS_CA needs a REDIS_URL that begins with rediss://',
    ],
    [values.REDIS_CLUSTER && !given.REDIS_URL, 'REDIS_CLUSTER needs a REDIS_URL'],
    [given.REDIS_SENTINEL && !given.REDIS_URL, 'REDIS_SENTINEL needs a REDIS_URL'],
    [
      given.REDIS_SENTINEL && values.REDIS_CLUSTER,
      'REDIS_SENTINEL and REDIS_CLUSTER: remove one of them, since Sentinels watch no cluster',
    ],
  ];
}

function driverRules(
  given: GivenTexts,
  values: KnownValues,
  drivers: readonly DriverSettings[],
): Check[] {
  return drivers.flatMap(({ name, rules, productionRules }) => {
    const named = [...(values.CHANNELS ?? [])].filter(([, driver]) => driver === name);
    const environment = { given, values, channels: named.map(([code]) => code) };
    const isProduction = values.MALIPO_ENV === 'production';
    return [
      ...(rules?.(environment) ?? []),
      ...(isProduction ? (productionRules?.(environment) ?? []) : []),
    ];
  });
}

function noticeRules(given: GivenTexts): Check[] {
  return [
    [given.SMTP_URL && !given.NOTICE_FROM, 'NOTICE_FROM is required with SMTP_URL'],
    [given.NOTICE_FROM && !given.SMTP_URL, 'SMTP_URL is required with NOTICE_FROM'],
  ];
}

/** Returns the addresses in REDIS_URL. Only the first has a scheme. */
function redisNodes(url: string, hasNodes: boolean): string[] {
  const [first = '', ...others] = hasNodes ? url.split(',') : [url];
  const scheme = url.split('://', 1)[0];
  return [first, ...others.map((node) => `${scheme}://${node.trim().replace(/^.*:\/\//, '')}`)];
}

/** Checks that a client can read all of an address. A client that cannot says so with the password. */
function isAddress(text: string): boolean {
  try {
    const { hostname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return hostname !== '';
  } catch {
    return false;
  }
}
