import type { Transaction } from '../../database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { Rate } from '../money.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import { findMovement, type Movement } from '../payments/movements.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, lockPayment, refOf } from '../payments/payment-store.ts';
import { pollStep } from '../payments/schedule.ts';
import { settle } from '../payments/settle.ts';
import { completeFromSuspense } from './complete-from-suspense.ts';
import {
  type Discrepancy,
  findDiscrepancy,
  lockDiscrepancy,
  markResolved,
} from './discrepancy-store.ts';
import { returnMovement, writeOffMovement } from './leave-suspense.ts';
import { ALLOWED_RESOLUTIONS, type Resolution, SUPPORT_RESULT_CODE } from './resolution.ts';

export interface Decision {
  as: Resolution;
  actor: string;
  reason: string;
  /** The gateway's receipt, where support has learned it. */
  transId: string | null;
}

export interface ResolveOptions {
  /** For merchants without a commission of their own. */
  commissionDefaults: Rate;
  /** How soon the gateway is asked again about what was parked. */
  pollFirstMs: number;
}

/**
 * Settles a discrepancy as support has decided, with everything that follows from it, in
 * the caller's transaction: books, state, event. Later news of the gateway is judged by
 * what is so then.
 * @throws OperatorRefusal when it cannot be decided like that; nothing is changed then.
 */
export async function resolveDiscrepancy(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Discrepancy> {
  const found = await findDiscrepancy(trx, id);
  if (!found) throw new OperatorRefusal(`There is no discrepancy ${id}`);
  // The payment's lock comes first, as everywhere.
  const payment = await paymentOf(trx, found);
  const discrepancy = (await lockDiscrepancy(trx, id))!;
  refuseUnlessAllowed(discrepancy, decision.as);
  const movement = await movementInSuspense(trx, discrepancy);
  if (payment) await apply(trx, { discrepancy, payment, movement }, decision, options);
  await markResolved(trx, id, decision);
  return (await findDiscrepancy(trx, id))!;
}

async function paymentOf(
  trx: Transaction,
  { payment_kind: kind, merchant_id: merchantId, payment_id: id }: Discrepancy,
): Promise<AnyPayment | undefined> {
  if (kind === null || merchantId === null || id === null) return undefined;
  return lockPayment(trx, { kind, merchantId, id });
}

function refuseUnlessAllowed({ id, kind, resolved_at, resolution }: Discrepancy, as: Resolution) {
  if (resolved_at) {
    throw new OperatorRefusal(`Discrepancy ${id} is resolved already: ${resolution}`);
  }
  const allowed = ALLOWED_RESOLUTIONS[kind];
  if (allowed.includes(as)) return;
  throw new OperatorRefusal(`A discrepancy ${kind} can only be resolved as ${allowed.join(', ')}`);
}

async function movementInSuspense(
  trx: Transaction,
  { merchant_id: merchantId, movement_id: id }: Discrepancy,
): Promise<Movement | null> {
  if (merchantId === null || id === null) return null;
  const movement = await findMovement(trx, merchantId, id);
  return movement.booked === 'suspense' ? movement : null;
}

interface Case {
  discrepancy: Discrepancy;
  payment: AnyPayment;
  movement: Movement | null;
}

async function apply(
  trx: Transaction,
  { discrepancy, payment, movement }: Case,
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const { as } = decision;
  if (as === 'dismissed') return dismiss(trx, payment, movement, options);
  if (discrepancy.kind === 'overdue' || discrepancy.kind === 'never_taken') {
    return settleByHand(trx, payment, decision);
  }
  if (!movement) {
    throw new OperatorRefusal('There is no money in suspense for it: it can only be dismissed');
  }
  if (as === 'returned') return returnMovement(trx, payment, movement, discrepancy.kind);
  if (as === 'failed') return writeOffMovement(trx, payment, movement);
  return completeFromSuspense(trx, payment, movement, {
    acceptAmount: as === 'accept-amount',
    commissionDefaults: options.commissionDefaults,
  });
}

/** What was parked for it goes on being asked about. */
async function dismiss(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement | null,
  { pollFirstMs }: ResolveOptions,
): Promise<void> {
  if (movement) {
    throw new OperatorRefusal('Its money is in suspense: say what becomes of that');
  }
  if (!isOpen(payment) || !payment.parked_reason?.startsWith('discrepancy:')) return;
  await changeStep(trx, refOf(payment), pollStep({ ...payment, parked_reason: null }, pollFirstMs));
}

/** The gateway's word, which support has got in another way. */
async function settleByHand(
  trx: Transaction,
  payment: AnyPayment,
  { as, transId }: Decision,
): Promise<void> {
  if (!isOpen(payment)) throw new OperatorRefusal(`The ${payment.kind} has ended meanwhile`);
  const settlement = await settle(
    trx,
    payment,
    as === 'failed'
      ? {
          outcome: 'failed',
          code: SUPPORT_RESULT_CODE,
          description: 'Not carried out',
          externalRef: null,
        }
      : {
          outcome: 'succeeded',
          transId,
          externalRef: null,
          amountCents: null,
          account: null,
          description: 'Confirmed by the gateway',
          completedAt: null,
        },
    'support',
  );
  if (settlement === 'completed' || settlement === 'failed') return;
  throw new OperatorRefusal(`The ${payment.kind} has another open discrepancy: resolve that one`);
}
