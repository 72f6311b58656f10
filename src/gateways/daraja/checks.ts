import got, { RequestError, type Response } from 'got';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../time.ts';
import type { CheckAddresses, Finding } from '../gateway.ts';
import { initiatorOf } from './account.ts';
import { passwordEnd } from './daraja-gateway.ts';
import { fieldsOf, parseJson } from './messages.ts';
import type { DarajaConfig, DarajaShortcode } from './settings.ts';

const CALLBACK_ADDRESS = 'callback address';
/** Safaricom refuses addresses with these anywhere in them. */
const FORBIDDEN = /m-?pesa|safaricom|exec?|cmd|sql|query|ngrok|requestbin/i;
/** The answer to every callback that Safaricom's documents ask for. */
export const CALLBACK_ANSWER = { status: 200, body: { ResultCode: 0, ResultDesc: 'Accepted' } };
const NOT_FOUND = 404;

/** Tells whether Safaricom will take our addresses, and whether they lead to us. */
export async function checkCallbacks(
  darajaUrl: string,
  addresses: CheckAddresses | null,
): Promise<Finding[]> {
  if (!addresses) {
    return [
      wrong(CALLBACK_ADDRESS, 'is not known: set GATEWAY_CALLBACK_URL, or start a web process'),
    ];
  }
  const problems = problemsOf(addresses, darajaUrl.startsWith('https:'));
  const form =
    problems.length > 0 ? problems : [ok(CALLBACK_ADDRESS, `${addresses.base} has the right form`)];
  return [...form, await reached(addresses)];
}

function problemsOf({ base, keyId }: CheckAddresses, isReal: boolean): Finding[] {
  const [, host = ''] = /^\w+:\/\/([^/]+)/.exec(base) ?? [];
  const [word] = FORBIDDEN.exec(base) ?? [];
  const [keyWord] = FORBIDDEN.exec(keyId) ?? [];
  const problems = [
    isReal && !base.startsWith('https:') && `${base} must begin with https`,
    host !== host.toLowerCase() && `${host} must be in small letters`,
    word && `Safaricom refuses "${word}" in ${base}: set GATEWAY_CALLBACK_URL to another`,
    keyWord && `Safaricom refuses "${keyWord}" in the id of the first SECRETS_KEY: use another id`,
  ];
  return problems
    .filter((each) => typeof each === 'string')
    .map((each) => wrong(CALLBACK_ADDRESS, each));
}

/** A network may keep its own machines from its public address, so this proves no fault. */
async function reached({ unread, base }: CheckAddresses): Promise<Finding> {
  const about = 'callbacks from here';
  const answer = await reach('POST', unread, {});
  const advice = 'look from outside, and at the proxy, the certificate and the web process';
  if ('problem' in answer) return wrong(about, `${base}: ${answer.problem}; ${advice}`);
  const { ResultCode, code } = fieldsOf(parseJson(answer.body));
  const { status, body } = CALLBACK_ANSWER;
  if (answer.statusCode === status && ResultCode === body.ResultCode)
    return ok(about, 'our API answers');
  if (answer.statusCode === NOT_FOUND && code === 'path_not_found') {
    return warning(about, 'refused, because GATEWAY_CALLBACK_SOURCES does not have this machine');
  }
  return wrong(about, `${base} answers HTTP ${answer.statusCode}, but it is not ours; ${advice}`);
}

/** The operator has so long to set the next password. The alert begins then too. */
const MIN_PASSWORD_LIFE_MS = 14 * DAY_MS;

/** Tells whether a shortcode has all that it needs for what it carries. */
export function checkConfiguration(config: DarajaConfig, settings: DarajaShortcode): Finding[] {
  return [
    routed(config, settings),
    ...(config.collections === settings.shortcode ? collecting(settings) : []),
    ...(config.payouts === settings.shortcode ? paying(settings) : []),
    ...(initiatorOf(settings) ? [password(settings.passwordSetOn)] : []),
  ];
}

/** The rules of the configuration see to it that a route has what its requests need. */
function routed({ collections, payouts }: DarajaConfig, { shortcode }: DarajaShortcode): Finding {
  const carried = [
    collections === shortcode && 'collections',
    payouts === shortcode && 'payouts',
  ].filter((each) => each !== false);
  return carried.length > 0
    ? ok('configuration', `carries new ${carried.join(' and ')}`)
    : ok('configuration', 'carries nothing new, only what is open');
}

function collecting(settings: DarajaShortcode): Finding[] {
  return [
    initiatorOf(settings)
      ? ok('reversals', 'an initiator is configured')
      : wrong('reversals', 'cannot be made without initiator: configure one with its credential'),
    settings.nominatedNumber !== null
      ? ok('statements', 'a nominated number is configured')
      : warning(
          'statements',
          'cannot be asked for: set nominated_number. Prompts whose acknowledgement is lost wait for support',
        ),
  ];
}

function paying({ floatAlertBelowCents }: DarajaShortcode): Finding[] {
  return floatAlertBelowCents === null
    ? [warning('float', 'nobody is told when it is low: set float_alert_below')]
    : [ok('float', 'an alert comes when it is low')];
}

function password(setOn: Date | null): Finding {
  const about = 'initiator password';
  if (setOn === null) {
    return warning(
      about,
      'its end is not known: set password_set_on to the day on which it was set',
    );
  }
  const end = passwordEnd(setOn);
  const leftMs = end.getTime() - Date.now();
  const day = end.toISOString().slice(0, 'yyyy-mm-dd'.length);
  const advice = 'set a new one in the portal, and put it into the configuration with its date';
  if (leftMs <= 0) return wrong(about, `ended on ${day}: ${advice}`);
  if (leftMs < MIN_PASSWORD_LIFE_MS) return warning(about, `ends on ${day}: ${advice}`);
  return ok(about, `ends on ${day}`);
}

/** The time is part of a prompt's password. */
const MAX_CLOCK_DIFFERENCE_MS = MINUTE_MS;

/** Tells whether Daraja is reached, and whether its clock and ours agree. */
export async function checkHost(baseUrl: string): Promise<Finding[]> {
  const { host } = new URL(baseUrl);
  const answer = await reach('HEAD', baseUrl);
  if ('problem' in answer) return [wrong('host', `${host} is not reached: ${answer.problem}`)];
  return [ok('host', `${host} answers`), clock(answer.headers.date)];
}

function clock(date = ''): Finding {
  const differenceMs = Date.now() - Date.parse(date);
  if (Number.isNaN(differenceMs)) return wrong('clock', 'the host does not tell its time');
  // The header has whole seconds.
  const seconds = Math.trunc(Math.abs(differenceMs) / SECOND_MS);
  if (Math.abs(differenceMs) <= MAX_CLOCK_DIFFERENCE_MS) {
    return ok('clock', `${seconds} s off the host’s`);
  }
  const direction = differenceMs > 0 ? 'fast' : 'slow';
  return wrong('clock', `ours is ${seconds} s ${direction}: prompts are refused. Use NTP`);
}

const REACH_TIMEOUT_MS = 10_000;

const CONNECTION_CAUSES: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND/, 'its name is not found: check the address and DNS'],
  [/EAI_AGAIN/, 'the name server does not answer: check DNS'],
  [/ECONNREFUSED/, 'it refuses the connection: check the address and the firewall'],
  [/ETIMEDOUT/, `no answer came in ${REACH_TIMEOUT_MS / 1_000} s: check the firewall`],
  [/CERT|SIGNATURE|ALTNAME|SELF_SIGNED|EPROTO|SSL|TLS/, 'its certificate is not accepted'],
];

/** Sends one request without secrets. @returns the answer, or in plain words why it is missing */
async function reach(
  method: 'HEAD' | 'POST',
  url: string,
  json?: object,
): Promise<Response<string> | { problem: string }> {
  try {
    return await got(url, {
      ...{
        method,
        responseType: 'text',
        timeout: { request: REACH_TIMEOUT_MS },
        retry: { limit: 0 },
      },
      ...(json && { json }),
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
    });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const [, cause] = CONNECTION_CAUSES.find(([codes]) => codes.test(error.code)) ?? [];
    return { problem: cause ? `${cause} (${error.code})` : error.message };
  }
}

/** Short forms of findings. */

export function ok(about: string, words: string): Finding {
  return { about, state: 'ok', words };
}

export function warning(about: string, words: string): Finding {
  return { about, state: 'warning', words };
}

export function wrong(about: string, words: string): Finding {
  return { about, state: 'wrong', words };
}
