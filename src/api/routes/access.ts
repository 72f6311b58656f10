import { releaseAccess } from '../../domain/access/new-access.ts';
import { issueAppTokens, logInUser, refreshTokens } from '../../domain/credentials/log-in.ts';
import { accountHash, countFailures } from '../../domain/credentials/log-in-limit.ts';
import {
  beginTotp,
  changeOwnPassword,
  confirmTotp,
  disableTotp,
  replaceRecoveryCodes,
} from '../../domain/credentials/own-access.ts';
import { inLine } from '../../domain/credentials/passwords.ts';
import { personOf, USERS } from '../../domain/credentials/people.ts';
import {
  endSession,
  listSessions,
  logOut,
  type Session,
} from '../../domain/credentials/sessions.ts';
import { readSecret, setUpPassword } from '../../domain/credentials/set-ups.ts';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import { networkOf } from '../../http/caller.ts';
import { session } from '../../records/access.ts';
import { UUID } from '../../records/schema.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { envelopeOf, pageRequestOf } from '../lists.ts';
import { type AuthenticatedCall, mount, mountPublic } from '../middleware/mount.ts';
import {
  type BucketUse,
  type Limit,
  limitRevoked,
  limitTokens,
  rateLimited,
} from '../middleware/rate-limit.ts';

/** Tokens must not stay in any cache. */
const headers = { 'Cache-Control': 'no-store' };

export function addAuthRoutes(context: ApiContext): void {
  const { database, config } = context;

  mountPublic(context, endpoints.issueAppTokens, async ({ body, ip }) => {
    await limitTokens(context, ip);
    const tokens = await throttleFailures(context, ip, null, () =>
      issueAppTokens(database, config, body, ip),
    );
    return { headers, body: { ...tokens, message: 'Token issued' } };
  });

  mountPublic(context, endpoints.refreshTokens, async ({ body, ip }) => {
    await limitTokens(context, ip);
    const tokens = await limitRevoked(context, () =>
      refreshTokens(database, config.jwtKeys, body.refresh, ip),
    );
    return { headers, body: { ...tokens, message: 'Token refreshed' } };
  });

  mountPublic(context, endpoints.logIn, async ({ body, ip }) => {
    const email = body.email.toLowerCase();
    await limitTokens(context, ip);
    const credentials = { email, password: body.password, otp: body.otp };
    const tokens = await throttleFailures(context, ip, email, () =>
      logInUser(database, config, credentials, ip),
    );
    return { headers, body: { ...tokens, message: 'Logged in' } };
  });

  addSetUpRoutes(context);
}

function addSetUpRoutes(context: ApiContext): void {
  const { database, config } = context;

  mountPublic(context, endpoints.setUpPassword, async ({ body, ip }) => {
    await throttleFailures(context, ip, null, () =>
      inLine(networkOf(ip), false, () =>
        setUpPassword(database, config.secretsKeys, { ...body, ip }),
      ),
    );
    return { headers, body: { message: 'Password set' } };
  });

  mountPublic(context, endpoints.readSecret, async ({ body, ip }) => {
    const read = () => readSecret(database, config.secretsKeys, { ...body, ip });
    return { headers, body: await throttleFailures(context, ip, null, read) };
  });
}

/** Serves what people change about their own access. */
export function addOwnAccessRoutes(context: ApiContext): void {
  addSessionRoutes(context);
  addPasswordRoutes(context);
  addReleaseRoute(context);
  addTotpRoutes(context);
}

function addSessionRoutes(context: ApiContext): void {
  const { database, config } = context;

  mount(context, endpoints.logOut, async ({ caller }) => {
    await logOut(database, caller);
    return { body: { message: 'Logged out' } };
  });

  mount(context, endpoints.listSessions, async ({ caller, query }) => {
    const person = personOf(caller);
    const page = await listSessions(database, person, pageRequestOf(query));
    const present = (row: Session) => session.present({ ...row, asking: person.family });
    return { body: envelopeOf(config, endpoints.listSessions, query, page, present) };
  });

  mount(context, endpoints.endSession, async ({ caller, params: { id = '' } }) => {
    if (!UUID.test(id)) throw new Refusal('session_not_found');
    await endSession(database, personOf(caller), id);
    return { body: { message: 'Session ended' } };
  });
}

function addPasswordRoutes(context: ApiContext): void {
  mount(context, endpoints.changePassword, async (call) => {
    const { caller, body } = call;
    await limited(context, call, () =>
      changeOwnPassword(
        context.database,
        personOf(caller),
        body.old_password,
        body.new_password,
        caller.email,
      ),
    );
    return { headers, body: { message: 'Password changed' } };
  });
}

function addReleaseRoute(context: ApiContext): void {
  mount(context, endpoints.releaseAccess, async (call) => {
    const { caller, body } = call;
    await limited(context, call, () =>
      releaseAccess(context.database, caller, body.password, body),
    );
    return { body: { message: 'It may send money out' } };
  });
}

function addTotpRoutes(context: ApiContext): void {
  const { database, config } = context;
  const { secretsKeys } = config;

  mount(context, endpoints.beginTotp, async (call) => {
    const password = call.body.password;
    const begin = () => beginTotp(database, secretsKeys, personOf(call.caller), password);
    return { headers, body: await limited(context, call, begin) };
  });

  mount(context, endpoints.confirmTotp, async (call) => {
    const otp = call.body.otp;
    const confirm = () => confirmTotp(database, secretsKeys, personOf(call.caller), otp);
    return { headers, body: { recovery_codes: await limited(context, call, confirm) } };
  });

  mount(context, endpoints.disableTotp, async (call) => {
    const { password, otp } = call.body;
    const person = personOf(call.caller);
    await limited(context, call, () => disableTotp(database, secretsKeys, person, password, otp));
    return { headers, body: { message: 'One-time passwords are off' } };
  });

  mount(context, endpoints.replaceRecoveryCodes, async (call) => {
    const { password, otp } = call.body;
    const person = personOf(call.caller);
    const replace = () => replaceRecoveryCodes(database, secretsKeys, person, password, otp);
    return { headers, body: { recovery_codes: await limited(context, call, replace) } };
  });
}

/** Counts wrong passwords of a session like failed log-ins: the session may be stolen. */
function limited<Result>(
  context: ApiContext,
  { caller, ip }: AuthenticatedCall,
  check: () => Promise<Result>,
): Promise<Result> {
  return throttleFailures(context, ip, caller.email, check);
}

/** Wrong credentials from one address for one account. A person mistypes; a program guesses. */
const PER_ACCOUNT: Limit = { perMinute: 10, burst: 10 };
/** Wrong credentials from one address for all accounts. An office may share the address. */
const PER_ADDRESS: Limit = { perMinute: 100, burst: 100 };

/** Other refusals come after the credentials were right, so the caller is not guessing. */
const WRONG_CREDENTIALS: ErrorCode[] = [
  'invalid_app_credentials',
  'invalid_set_up_code',
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
