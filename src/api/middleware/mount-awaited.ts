import type { Response } from 'express';
import type { Counter, Gauge } from 'prom-client';
import { isOutage, messageOf } from '../../connections/database-errors.ts';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import { type IdempotentRequest, type Kept, replaceKept } from '../../domain/idempotency.ts';
import { logFieldsOf } from '../../http/caller.ts';
import { noteAccepted } from '../../tracing/trace-requests.ts';
import type { ApiContext } from '../context.ts';
import type { Endpoint, Fields } from '../endpoints/endpoints.ts';
import {
  type Answer,
  type AuthenticatedCall,
  admission,
  type Handler,
  noteIn,
  perform,
  send,
  serve,
} from './mount.ts';

/** An operation that is recorded first and answered later. */
export interface AwaitedOperation<Body extends Fields> {
  /**
   * Records the operation. An idempotency key is stored in the same transaction. It takes its place in
   * the waiting room once nothing else refuses it; if the room is full, nothing may be recorded.
   */
  record: (call: AuthenticatedCall<Body>, takePlace: () => void) => Promise<Answer>;
  /**
   * Waits for the answer after the commit. Stops when the signal says that the caller has gone.
   * @throws Refusal when the answer does not come in time
   */
  settle: (call: AuthenticatedCall<Body>, signal: AbortSignal) => Promise<Answer>;
  /** Answers a repeated request when the first one never got its answer. */
  current: Handler<AuthenticatedCall<Body>>;
}

/**
 * Serves an awaited operation to callers with a token. A full waiting room refuses a request, and
 * nothing is recorded. What is refused anyway, or repeated, does not wait, so it needs no place.
 */
export function mountAwaited<Body extends Fields>(
  context: ApiContext,
  endpoint: Endpoint<Body>,
  room: WaitingRoom,
  { record, settle, current }: AwaitedOperation<Body>,
): void {
  const admit = admission(context, endpoint);
  serve(context, endpoint, async (req, res) => {
    const admitted = await admit(req, res);
    const signal = signalOfClose(res);
    const call = { ...admitted.call, database: context.database };
    const takePlace = () => room.enter(admitted, call.caller.merchant_id);
    const recordInside: Handler<AuthenticatedCall<Body>> = (recorded) =>
      record(recorded, takePlace);
    try {
      let answer = await perform(context, admitted, recordInside, true);
      context.bell.ring('outbox');
      // Whatever follows may fail, and its line must name the payment.
      noteIn(res, answer);
      if (!answer.replayed) {
        noteAccepted(res);
        answer = { ...answer, ...(await settle(call, signal)) };
        if (admitted.request) await keepAnswer(context, admitted.request, answer, res);
      } else if (answer.provisional) {
        answer = { ...answer, ...(await current(call)) };
      }
      send(res, answer);
    } finally {
      room.leave(admitted);
    }
  });
}

/** The operation is committed, so the caller gets its answer even if the key cannot keep it. */
async function keepAnswer(
  { database, logger }: ApiContext,
  request: IdempotentRequest,
  answer: Kept,
  res: Response,
): Promise<void> {
  try {
    await replaceKept(database, request, answer);
  } catch (error) {
    if (!isOutage(error)) throw error;
    logger.warn('the answer could not be kept', {
      ...logFieldsOf(res),
      error: messageOf(error),
    });
  }
}

/** Returns a signal that aborts when either side closes the connection. */
function signalOfClose(res: Response): AbortSignal {
  const controller = new AbortController();
  if (res.destroyed) controller.abort();
  res.once('close', () => controller.abort());
  return controller.signal;
}

export type WaitingRoom = ReturnType<typeof createWaitingRoom>;

/**
 * Limits how many requests wait for something at the same time, in all and of each merchant, so
 * that one merchant leaves room for the others.
 */
export function createWaitingRoom(
  {
    places,
    placesOfMerchant,
    refusalOfMerchant = 'unavailable',
  }: {
    places: number;
    placesOfMerchant: number;
    /** Refuses a merchant that has all of its own places taken. */
    refusalOfMerchant?: ErrorCode;
  },
  meters: { waiters: Gauge; refused: Counter },
) {
  /** The requests inside, each with its merchant. */
  const inside = new Map<object, number>();
  const countOf = (merchantId: number) =>
    [...inside.values()].filter((each) => each === merchantId).length;
  const refuse = (code: ErrorCode): never => {
    meters.refused.inc();
    throw new Refusal(code);
  };
  return {
    /** Takes a place, one for each request. @throws Refusal when none is free */
    enter(who: object, merchantId: number) {
      if (!inside.has(who)) {
        if (countOf(merchantId) >= placesOfMerchant) refuse(refusalOfMerchant);
        if (inside.size >= places) refuse('unavailable');
      }
      inside.set(who, merchantId);
      meters.waiters.set(inside.size);
    },
    /** Gives the place back, if the request has one. */
    leave(who: object) {
      inside.delete(who);
      meters.waiters.set(inside.size);
    },
  };
}
