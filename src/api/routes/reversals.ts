import { Router } from 'express';
import type { Database } from '../../connections/database.ts';
import { Refusal } from '../../domain/errors.ts';
import { awaitAcceptance } from '../../domain/reversals/await-acceptance.ts';
import { createReversal } from '../../domain/reversals/create-reversal.ts';
import { findReversal } from '../../domain/reversals/find-reversal.ts';
import { addLogContext } from '../../process/logger.ts';
import { callbackUrlIn } from '../callback-url.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { type AwaitedOperation, mountAwaited } from '../middleware/mount-awaited.ts';
import { reversalRecord } from '../presenters/reversal.ts';
import { createWaitingRoom } from '../waiting-room.ts';
import { listReader } from './payment-reads.ts';

/** Requests of one process that wait for the gateway at once. */
export const MAX_WAITING = 100;

const REF_NO = /^[A-Za-z0-9_-]{1,60}$/;

export function reversalRoutes(context: ApiContext): Router {
  const { database, meters } = context;
  const router = Router();

  const { initiateReversal, listReversals, getReversal } = endpoints;
  const room = createWaitingRoom(MAX_WAITING, meters.http);
  mountAwaited(router, context, initiateReversal, room, initiation(context));

  const list = listReader(context, 'reversal', listReversals, reversalRecord);
  mount(router, context, listReversals, list);

  mount(router, context, getReversal, ({ caller, params }) =>
    detail(database, caller.merchant_id, params.ref_no ?? ''),
  );

  return router;
}

function initiation({ config, database }: ApiContext): AwaitedOperation {
  const refNoIn = ({ body }: AuthenticatedCall) => String(body.ref_no);
  return {
    record: async (call) => {
      const reversal = await createReversal(call.database, {
        merchant_id: call.caller.merchant_id,
        // What a person gives back is booked where it came in.
        app_code: call.caller.app?.code ?? null,
        checkout_ref_no: String(call.body.checkout_ref_no),
        ref_no: refNoIn(call),
        reason: call.body.reason ? String(call.body.reason) : null,
        callback_url: callbackUrlIn(config, call.body),
      });
      addLogContext({ payment_id: reversal.id });
      return { body: reversalRecord(reversal) };
    },
    settle: async (call, signal) => {
      const name = { merchant_id: call.caller.merchant_id, ref_no: refNoIn(call) };
      const reversal = await awaitAcceptance(database, name, config.reversalWaitMs, signal);
      if (!reversal) throw new Refusal('gateway_unreachable');
      return { body: reversalRecord(reversal) };
    },
    current: (call) => detail(database, call.caller.merchant_id, refNoIn(call)),
  };
}

async function detail(database: Database, merchant_id: number, ref_no: string) {
  const reversal = REF_NO.test(ref_no)
    ? await findReversal(database, { merchant_id, ref_no })
    : undefined;
  if (!reversal) throw new Refusal('transaction_not_found');
  addLogContext({ payment_id: reversal.id });
  return { body: reversalRecord(reversal) };
}
