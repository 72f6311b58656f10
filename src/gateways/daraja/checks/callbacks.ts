import type { CheckAddresses, Finding } from '../../gateway.ts';
import { fieldsOf, parseJson } from '../messages.ts';
import { ok, warning, wrong } from './findings.ts';
import { reach } from './reach.ts';

const ABOUT = 'callback address';
/** Safaricom refuses addresses with these anywhere in them. */
const FORBIDDEN = /m-?pesa|safaricom|exec?|cmd|sql|query|ngrok|requestbin/i;
const OK = 200;
const NOT_FOUND = 404;

/** Tells whether Safaricom will take our addresses, and whether they lead to us. */
export async function checkCallbacks(
  darajaUrl: string,
  addresses: CheckAddresses | null,
): Promise<Finding[]> {
  if (!addresses) {
    return [wrong(ABOUT, 'is not known: set GATEWAY_CALLBACK_URL, or start a web process')];
  }
  const problems = problemsOf(addresses, darajaUrl.startsWith('https:'));
  const form = problems.length > 0 ? problems : [ok(ABOUT, `${addresses.base} has the right form`)];
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
  return problems.filter((each) => typeof each === 'string').map((each) => wrong(ABOUT, each));
}

/** A network may keep its own machines from its public address, so this proves no fault. */
async function reached({ unread, base }: CheckAddresses): Promise<Finding> {
  const about = 'callbacks from here';
  const answer = await reach('POST', unread, {});
  const advice = 'look from outside, and at the proxy, the certificate and the web process';
  if ('problem' in answer) return wrong(about, `${base}: ${answer.problem}; ${advice}`);
  const { ResultCode, code } = fieldsOf(parseJson(answer.body));
  if (answer.statusCode === OK && ResultCode === 0) return ok(about, 'our API answers');
  if (answer.statusCode === NOT_FOUND && code === 'path_not_found') {
    return warning(about, 'refused, because GATEWAY_CALLBACK_SOURCES does not have this machine');
  }
  return wrong(about, `${base} answers HTTP ${answer.statusCode}, but it is not ours; ${advice}`);
}
