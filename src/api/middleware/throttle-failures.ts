import {
  accountHash,
  countLogIn,
  isOfKnownNetwork,
  type LogInLimit,
  takeBackLogIn,
} from '../../domain/credentials/log-in-limit.ts';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import { networkOf } from '../../http/caller.ts';
import type { ApiContext } from '../context.ts';
import { type BucketUse, type Limit, rateLimited } from './rate-limit.ts';

/** Wrong credentials from one address for one account. A person mistypes; a program guesses. */
const PER_ACCOUNT: Limit = { perMinute: 10, burst: 10 };
/** Wrong credentials from one address for all accounts. An office may share the address. */
const PER_ADDRESS: Limit = { perMinute: 100, burst: 100 };

/** Other refusals come after the credentials were right, so the caller is not guessing. */
const WRONG_CREDENTIALS: ErrorCode[] = [
  'invalid_app_credentials',
  'invalid_credentials',
  'invalid_otp',
];

/**
 * Runs a check of credentials, unless too many have failed from this address, from it for this
 * account, or for this account from everywhere. App log-ins pass no account, because an app's
 * secret cannot be guessed. Only failures count. Each check counts until it has succeeded, so
 * simultaneous checks count too.
 * @throws Refusal `rate_limited`, and what `check` throws
 */
export async function throttleFailures<Result>(
  context: ApiContext,
  ip: string | null,
  account: string | null,
  check: () => Promise<Result>,
): Promise<Result> {
  const { rateLimiter } = context;
  const network = networkOf(ip);
  const buckets: [use: BucketUse, key: string, limit: Limit][] = [
    ['failures-of-address', network, PER_ADDRESS],
  ];
  if (account !== null) {
    buckets.unshift(['failures-of-account', `${network} ${account}`, PER_ACCOUNT]);
  }
  for (const bucket of buckets) {
    const decision = await rateLimiter.take(...bucket);
    if (!decision.allowed) throw rateLimited(decision);
  }
  let limit: LogInLimit | null = null;
  let code: ErrorCode | null = null;
  try {
    if (account === null) return await check();
    limit = await limitAccount(context, account, ip);
    return await inPlace(network, isOfKnownNetwork(limit), check);
  } catch (error) {
    if (error instanceof Refusal) code = error.code;
    throw error;
  } finally {
    const isGuess = code !== null && WRONG_CREDENTIALS.includes(code);
    // Whoever floods this process stays counted. Whose account it is has no part in that.
    if (!isGuess && code !== 'unavailable') {
      for (const bucket of buckets) await rateLimiter.giveBack(...bucket);
    }
    // The limit mends itself, so the answer does not fail with the database here.
    if (limit && !isGuess) await takeBackLogIn(context.database, limit).catch(() => {});
  }
}

/** Counts a log-in to an account over all addresses. @throws Refusal `rate_limited` */
async function limitAccount(
  { database, config }: ApiContext,
  account: string,
  ip: string | null,
): Promise<LogInLimit> {
  const account_hash = accountHash(config.secretsKeys, account);
  const { limit, retryInMs } = await countLogIn(database, account_hash, ip && networkOf(ip));
  if (limit) return limit;
  throw rateLimited({ retryInMs }).recordedAs({ kind: 'log_in_limited', account_hash });
}

/**
 * Checks of passwords that are under way in this process, or wait for their turn. Each takes long,
 * and `password.ts` refuses more than some forty. So that strangers do not take all of these places,
 * they have half of them at most, and one network a quarter.
 */
const MAX_OF_STRANGERS = 20;
const MAX_OF_NETWORK = 10;

let strangers = 0;
const ofNetwork = new Map<string, number>();

/**
 * Runs a check of a password in one of the places.
 * @param isKnown says that the account was logged in to from there lately, or that it has a session.
 * @throws Refusal `unavailable` when there is no place, and what `check` throws
 */
export async function inPlace<Result>(
  network: string,
  isKnown: boolean,
  check: () => Promise<Result>,
): Promise<Result> {
  if (isKnown) return check();
  const taken = ofNetwork.get(network) ?? 0;
  if (taken >= MAX_OF_NETWORK || strangers >= MAX_OF_STRANGERS) throw new Refusal('unavailable');
  strangers += 1;
  ofNetwork.set(network, taken + 1);
  try {
    return await check();
  } finally {
    strangers -= 1;
    const left = ofNetwork.get(network)! - 1;
    if (left > 0) ofNetwork.set(network, left);
    else ofNetwork.delete(network);
  }
}
