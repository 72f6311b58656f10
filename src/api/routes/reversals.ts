import { Refusal } from '../../domain/errors.ts';
import { awaitAcceptance, findReversal } from '../../domain/reversals/await-acceptance.ts';
import { createReversal } from '../../domain/reversals/create-reversal.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { type AwaitedOperation, mountAwaited } from '../middleware/mount-awaited.ts';
import { reversalRecord } from '../presenters.ts';
import { REVERSAL_REF_NO } from '../schemas/fields.ts';
import { createWaitingRoom } from '../waiting-room.ts';
import { callbackUrlIn } from './payment-initiation.ts';
import { answerDetail, answerWith, mountList } from './payment-reads.ts';

/** Requests of one process that may wait for the gateway at the same time. */
const MAX_WAITING = 100;
/** A quarter: in an outage of the gateway one merchant leaves three quarters to the others. */
export const MAX_WAITING_OF_MERCHANT = 25;

export function addReversalRoutes(context: ApiContext): void {
  const { http } = context.meters;
  const room = createWaitingRoom(
    { places: MAX_WAITING, placesOfMerchant: MAX_WAITING_OF_MERCHANT },
    { waiters: http.reversalWaiters, refused: http.reversalWaitersRefused },
  );
  mountAwaited(context, endpoints.initiateReversal, room, initiation(context));
  mountList(context, endpoints.listReversals, 'reversal', reversalRecord);
  mount(context, endpoints.getReversal, async (call) => {
    const reversal = await find(context, call, call.params.ref_no ?? '');
    return answerDetail(context, call, reversal, reversalRecord);
  });
}

function initiation(context: ApiContext): AwaitedOperation {
  const { config, database } = context;
  return {
    record: async ({ database: target, caller, body }) => {
      const reversal = await createReversal(target, {
        ...caller.asker,
        merchant_id: caller.merchant_id,
        // Null for a person: the reversal is booked on the collection's own app.
        app_code: caller.app?.code ?? null,
        checkout_ref_no: String(body.checkout_ref_no),
        ref_no: String(body.ref_no),
        reason: body.reason ? String(body.reason) : null,
        callback_url: callbackUrlIn(config, body),
      });
      return answerWith(reversal, reversalRecord);
    },
    settle: async ({ caller: { merchant_id }, body }, signal) => {
      const name = { merchant_id, ref_no: String(body.ref_no) };
      const reversal = await awaitAcceptance(database, name, config.reversalWaitMs, signal);
      if (!reversal) throw new Refusal('gateway_unreachable');
      return { body: reversalRecord(reversal) };
    },
    current: async (call) =>
      answerWith(await find(context, call, String(call.body.ref_no)), reversalRecord),
  };
}

async function find({ database }: ApiContext, { caller }: AuthenticatedCall, ref_no: string) {
  const reversal = REVERSAL_REF_NO.test(ref_no)
    ? await findReversal(database, { merchant_id: caller.merchant_id, ref_no })
    : undefined;
  if (!reversal) throw new Refusal('transaction_not_found');
  return reversal;
}
