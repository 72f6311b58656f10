import { hasDevelopmentKey, hasGuessableKey, hasRepeatedKey, shareKey } from './key-ring.ts';
import { hasReachableHost, trustsTheWorld } from './networks.ts';
import type { GivenTexts, KnownValues } from './setting-rules.ts';
import type { Check } from './setting-types.ts';

/** Returns what production refuses: what would be harmless on a developer's machine only. */
export function productionRules(
  given: GivenTexts,
  values: KnownValues,
  environment: NodeJS.ProcessEnv,
): Check[] {
  return [
    ...keyRules(given, values),
    ...networkRules(given, values, environment),
    ...channelRules(given, values),
  ];
}

function keyRules(given: GivenTexts, values: KnownValues): Check[] {
  const names = ['SECRETS_KEY', 'JWT_KEYS'] as const;
  const { SECRETS_KEY: secrets, JWT_KEYS: tokens } = values;
  return [
    ...names.flatMap((name): Check[] => {
      // Where no key is given, the value is the development key.
      const ring = given[name] ? values[name] : undefined;
      return [
        [!given[name], `${name} is required in production`],
        [
          ring && hasDevelopmentKey(ring),
          `${name} contains the published development key, which production refuses`,
        ],
        [
          ring && hasGuessableKey(ring),
          `${name} contains a key of one repeated byte: make another`,
        ],
        [ring && hasRepeatedKey(ring), `${name} contains one key under two ids`],
      ];
    }),
    [
      given.SECRETS_KEY && given.JWT_KEYS && secrets && tokens && shareKey(secrets, tokens),
      'JWT_KEYS must not share a key with SECRETS_KEY in production: a thief of one must not have both',
    ],
  ];
}

function networkRules(
  given: GivenTexts,
  values: KnownValues,
  environment: NodeJS.ProcessEnv,
): Check[] {
  return [
    [!given.PUBLIC_URL, 'PUBLIC_URL is required in production'],
    [given.PUBLIC_URL?.startsWith('http:'), 'PUBLIC_URL must be https in production'],
    [
      values.PUBLIC_URL && !hasReachableHost(values.PUBLIC_URL),
      'PUBLIC_URL must name a host that merchants can reach',
    ],
    [given.CONSOLE_URL?.startsWith('http:'), 'CONSOLE_URL must be https in production'],
    [
      given.GATEWAY_CALLBACK_URL?.startsWith('http:'),
      'GATEWAY_CALLBACK_URL must be https in production: a reader of a callback’s address can report an outcome',
    ],
    [
      !given.TRUST_PROXY && !given.TLS_CERT && values.REQUIRE_HTTPS !== false,
      'TRUST_PROXY is required in production, or TLS_CERT and TLS_KEY: HTTPS must end somewhere (or set REQUIRE_HTTPS=false)',
    ],
    [
      values.TRUST_PROXY && trustsTheWorld(values.TRUST_PROXY),
      'TRUST_PROXY must name your own proxies: with networks as wide as these, callers choose the address that allow-lists see',
    ],
    [
      typeof values.TRUST_PROXY === 'number',
      'TRUST_PROXY must be the addresses of your proxies in production: with a number of proxies, anybody who connects directly is one',
    ],
    [
      values.WEBHOOK_ALLOW_PRIVATE,
      'WEBHOOK_ALLOW_PRIVATE must not be true in production: merchants could call what is inside your network',
    ],
    [
      values.NOTICE_HOOK_URL?.startsWith('http:') && hasReachableHost(values.NOTICE_HOOK_URL),
      'NOTICE_HOOK_URL must be https in production, unless it is on this machine',
    ],
    [
      environment.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      'NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in production: anybody could answer for a gateway (NODE_EXTRA_CA_CERTS adds an authority)',
    ],
  ];
}

function channelRules(given: GivenTexts, values: KnownValues): Check[] {
  return [
    [!given.CHANNELS, 'CHANNELS is required in production'],
    [given.CHANNELS && values.CHANNELS?.size === 0, 'CHANNELS must name a channel'],
  ];
}

/** Time to record an answer after the longest wait for it, even through a short outage. */
export const RECORDING_MARGIN_MS = 5_000;

/** Waits that a process may have begun when it is told to stop, and must be able to finish. */
const MUST_FIT = [
  ['GATEWAY_TIMEOUT_MS'],
  ['WEBHOOK_TIMEOUT_MS'],
  ['DRAIN_DELAY_MS', 'REVERSAL_WAIT_MS'],
] as const;

type Time = (typeof MUST_FIT)[number][number] | 'SHUTDOWN_TIMEOUT_MS';

/** Returns a line for each wait that does not fit into the time that a stopping process has. */
export function shutdownProblems(timeOf: (name: Time) => number): string[] {
  return MUST_FIT.filter((names) => {
    const neededMs = names.reduce((sum, name) => sum + timeOf(name), RECORDING_MARGIN_MS);
    return neededMs > timeOf('SHUTDOWN_TIMEOUT_MS');
  }).map(
    (names) =>
      `${names.join(' and ')} and ${RECORDING_MARGIN_MS} ms to record the outcome must fit into SHUTDOWN_TIMEOUT_MS together`,
  );
}
