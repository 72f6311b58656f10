import type { Request, Response } from 'express';
import type { Database, Transaction } from '../../connections/database.ts';
import {
  authenticate,
  type Caller,
  requireApproval,
  requireProduct,
} from '../../domain/access/caller.ts';
import { requireOldAccess } from '../../domain/access/new-access.ts';
import { requireTotp } from '../../domain/access/require-access.ts';
import { Refusal } from '../../domain/errors.ts';
import {
  type IdempotentRequest,
  type KeptAnswer,
  onceByKey,
  SUCCESS,
} from '../../domain/idempotency.ts';
import { addressOf, logFieldsOf } from '../../http/caller.ts';
import type { LogFields } from '../../process/logger.ts';
import type { ApiContext } from '../context.ts';
import { type Endpoint, type Fields, patternOf, takesKey } from '../endpoints/endpoints.ts';
import { bodyParser, NO_INPUT, queryParser } from '../schemas/validator.ts';
import { isList } from './list-turns.ts';
import { limitMerchant, limitRevoked } from './rate-limit.ts';
import { readJson } from './requests.ts';

/** A request that passed all checks. */
export interface Call<Body extends Fields = Fields, Query extends Fields = Fields> {
  body: Body;
  query: Query;
  params: Record<string, string>;
  /** The caller's address; null when the connection is gone. */
  ip: string | null;
  /** The database that the handler writes to. With a key it is the transaction that keeps the answer. */
  database: Database | Transaction;
}

export interface AuthenticatedCall<Body extends Fields = Fields, Query extends Fields = Fields>
  extends Call<Body, Query> {
  caller: Caller;
}

/** The answer of an operation. Its status is 200, unless the operation throws a Refusal. */
export interface Answer {
  body: unknown;
  headers?: Record<string, string>;
  /** For the log lines of the request. */
  paymentId?: string;
}

export type Handler<AnyCall = AuthenticatedCall> = (call: AnyCall) => Promise<Answer>;

/** Serves an endpoint that needs no token. */
export function mountPublic<Body extends Fields>(
  context: ApiContext,
  endpoint: Endpoint<Body>,
  handle: Handler<Call<Body>>,
): void {
  const parse = inputParser(endpoint);
  serve(context, endpoint, async (req, res) => {
    const input = await parse(req, res);
    const answer = await handle({ ...input, ip: addressOf(req), database: context.database });
    send(res, { ...answer, ...FIRST_TIME });
  });
}

/** Serves an endpoint that needs a token. */
export function mount<Body extends Fields, Query extends Fields>(
  context: ApiContext,
  endpoint: Endpoint<Body, Query>,
  handle: Handler<AuthenticatedCall<Body, Query>>,
): void {
  const admit = admission(context, endpoint);
  const readmit = readmission(context, endpoint);
  serve(context, endpoint, async (req, res) => {
    const admitted = await admit(req, res);
    const { caller } = admitted.call;
    const admittedAt = performance.now();
    const answer = await (isList(endpoint)
      ? context.inTurn(caller.merchant_id, async () => {
          const call = { ...admitted.call, caller: await readmit(admittedAt, caller, req) };
          return perform(context, { ...admitted, call }, handle);
        })
      : perform(context, admitted, handle));
    if (endpoint.method === 'post') context.bell.ring('outbox');
    send(res, answer);
  });
}

/** A request that passed all checks, and its idempotency key. */
export interface Admitted<Body extends Fields = Fields, Query extends Fields = Fields> {
  call: Omit<AuthenticatedCall<Body, Query>, 'database'>;
  /** Null when the request has no key. */
  request: IdempotentRequest | null;
}

/**
 * Checks a request. The order of the checks is part of the API: token, rate limit, what the caller
 * may do, and only then the input.
 * @throws Refusal
 */
export function admission<Body extends Fields, Query extends Fields>(
  context: ApiContext,
  endpoint: Endpoint<Body, Query>,
) {
  const parse = inputParser(endpoint);
  const readmit = readmission(context, endpoint);
  return async (req: Request, res: Response): Promise<Admitted<Body, Query>> => {
    let caller = await callerOfRequest(context, req);
    await limitMerchant(context, endpoint, caller, res);
    requirePermission(context, endpoint, caller);
    const key = takesKey(endpoint) ? idempotencyKey(req) : null;
    const admittedAt = performance.now();
    const input = await parse(req, res);
    caller = await readmit(admittedAt, caller, req);
    const call = { ...input, caller, ip: addressOf(req) };
    const { merchant_id } = caller;
    const request = key === null ? null : { merchant_id, path: req.path, key, fields: call.body };
    return { call, request };
  };
}

/** A caller whose body, or turn, takes longer to come is checked again. */
const SLOW_MS = 500;

/** Returns a function that checks a caller again after a wait: somebody may have shut the caller out meanwhile. */
function readmission(context: ApiContext, endpoint: Endpoint) {
  return async (admittedAt: number, caller: Caller, req: Request): Promise<Caller> => {
    if (performance.now() - admittedAt <= SLOW_MS) return caller;
    const current = await callerOfRequest(context, req);
    requirePermission(context, endpoint, current);
    return current;
  };
}

/** Requires that the caller may do this: password, role, second factor, approval, product. */
function requirePermission(
  { config }: ApiContext,
  { roles, peopleOnly, beforePasswordChange, approvedFor, product }: Endpoint,
  caller: Caller,
): void {
  if (caller.mustChangePassword && !beforePasswordChange) {
    throw new Refusal('password_change_required');
  }
  const mayCall = caller.role ? roles?.includes(caller.role) : !peopleOnly;
  if (!mayCall) throw new Refusal('role_insufficient');
  if (approvedFor) {
    requireTotp(caller, approvedFor, config.requireTotpFor);
    requireOldAccess(caller, approvedFor);
    requireApproval(caller, approvedFor);
  }
  if (product) requireProduct(caller, product);
}

/** An answer that is ready to be sent. */
export type Performed = Answer & Omit<KeptAnswer, 'body'>;

export const FIRST_TIME = { status: SUCCESS, isRow: false, replayed: false, provisional: false };

/**
 * Runs the handler. With a key it runs once, and the key keeps its answer in the same transaction.
 * `provisional` says that the kept answer is not yet the one that the caller gets.
 */
export async function perform<Body extends Fields, Query extends Fields>(
  { database }: ApiContext,
  { call, request }: Admitted<Body, Query>,
  handle: Handler<AuthenticatedCall<Body, Query>>,
  provisional = false,
): Promise<Performed> {
  if (!request) return { ...(await handle({ ...call, database })), ...FIRST_TIME };
  let paymentId: string | undefined;
  const work = async (trx: Transaction) => {
    const { body, ...answer } = await handle({ ...call, database: trx });
    paymentId = answer.paymentId;
    return { status: SUCCESS, body };
  };
  const kept = await onceByKey(database, request, work, provisional);
  return { ...kept, ...(paymentId && { paymentId }) };
}

export function serve(
  { router }: ApiContext,
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
  handle: (req: Request, res: Response) => Promise<void>,
): void {
  router[method](patternOf(path), (req, res) => handle(req, res));
}

function inputParser<Body extends Fields, Query extends Fields>({
  body,
  query,
}: Endpoint<Body, Query>) {
  const parseBody = bodyParser(body ?? NO_INPUT);
  const parseQuery = queryParser(query ?? NO_INPUT);
  return async (req: Request, res: Response) => ({
    query: parseQuery(req.query),
    body: parseBody(body ? await readJson(req, res) : {}),
    params: textsIn(req.params),
  });
}

/** Returns the parameters of a path. None of ours is a list. */
export function textsIn(params: Request['params']): Record<string, string> {
  const isText = (entry: [string, string | string[]]): entry is [string, string] =>
    typeof entry[1] === 'string';
  return Object.fromEntries(Object.entries(params).filter(isText));
}

export function send(res: Response, answer: Performed): void {
  const { status, body, headers = {}, replayed } = answer;
  noteIn(res, answer);
  if (replayed) res.set('Idempotent-Replayed', 'true');
  res.status(status).set(headers).json(body);
}

/** Adds what an answer is about to the log lines of the request. */
export function noteIn(res: Response, { paymentId }: Answer): void {
  if (paymentId) logFieldsOf(res).payment_id = paymentId;
}

/** Visible ASCII, which no proxy and no log changes. */
const KEY = /^[\x20-\x7e]{1,255}$/;

function idempotencyKey(req: Request): string | null {
  const key = req.get('idempotency-key');
  if (key === undefined) return null;
  if (!KEY.test(key)) throw new Refusal('invalid_field', 'Idempotency-Key');
  return key;
}

/** Authenticates the caller by the access token of the request. @throws Refusal */
async function callerOfRequest(context: ApiContext, req: Request): Promise<Caller> {
  const { database, config } = context;
  const header = req.get('authorization');
  if (!header) throw new Refusal('credentials_missing');
  const [, token] = /^Bearer ([^\s]+)$/i.exec(header) ?? [];
  if (!token) throw new Refusal('invalid_token_format');
  const fields = logFieldsOf(req.res!);
  const caller = await limitRevoked(context, () =>
    authenticate(database, config.jwtKeys, token, addressOf(req), fields.request_id),
  );
  const { asked_family, asked_app, asked_user, asked_ip } = caller.asker;
  Object.assign(fields, {
    merchant_id: caller.merchant_id,
    family: asked_family,
    app: asked_app,
    user: asked_user,
    address: asked_ip,
  } satisfies LogFields);
  return caller;
}
