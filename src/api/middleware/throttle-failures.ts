import { accountHash, countFailures } from '../../domain/credentials/log-in-limit.ts';
import { inLine } from '../../domain/credentials/password-line.ts';
import { USERS } from '../../domain/credentials/people.ts';
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
  let code: ErrorCode | null = null;
  try {
    if (account === null) return await check();
    const { database, config } = context;
    const account_hash = accountHash(config.secretsKeys, USERS.accountOf(account));
    const refuse = (retryInMs: number) =>
      rateLimited({ retryInMs }).recordedAs({ kind: 'log_in_limited', account_hash });
    const counted = { account_hash, network: ip && network, isWrong, refuse };
    return await countFailures(database, counted, (isKnown) => inLine(network, isKnown, check));
  } catch (error) {
    if (error instanceof Refusal) code = error.code;
    throw error;
  } finally {
    // A caller who floods this process stays counted, also for the caller's own account.
    if (!isWrongCode(code) && code !== 'unavailable') {
      for (const bucket of buckets) await rateLimiter.giveBack(...bucket);
    }
  }
}

function isWrong(error: unknown): boolean {
  return error instanceof Refusal && isWrongCode(error.code);
}

function isWrongCode(code: ErrorCode | null): boolean {
  return code !== null && WRONG_CREDENTIALS.includes(code);
}
