import type { Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { keepShown, rowsIn } from '../discrepancies/row-back.ts';
import { supersedeDiscrepancies, supersedeWhere } from '../discrepancies/supersede.ts';
import { openRest } from '../discrepancies/unknown-movement.ts';
import { OperatorRefusal } from '../errors.ts';
import { isOpen } from '../payments/payment.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
} from '../payments/payment-store.ts';
import { reportWithoutReceipt } from '../reconciliation/missing-movements.ts';
import { candidatesOfAll } from '../reconciliation/money-that-went-out.ts';
import {
  askAboutRowsOf,
  matchRows,
  noteDismissed,
} from '../reconciliation/rows-after-decisions.ts';
import { IS_EXPLAINED, IS_ROW } from '../reconciliation/rows-at-payments.ts';
import { answerAtReversal } from '../settlement/contrary-news.ts';
import { CallbackFault, drainCallbacks } from '../settlement/drain-callbacks.ts';
import { findMovement, movementsOf } from '../settlement/movements.ts';
import { nameRowBack } from '../settlement/rows-of-movements.ts';
import { endQuestionsAboutAmount } from './accept-told-amount.ts';
import { applyDecision, goOn } from './apply-decision.ts';
import { askClaimants, FREES_RECEIPTS, othersOf } from './claimants.ts';
import {
  type Discrepancy,
  type DiscrepancyCase,
  findCase,
  findDiscrepancy,
  markResolved,
  paymentOf,
} from './discrepancy-cases.ts';
import { collectionOf } from './refuse-decision.ts';
import { type Decision, type Resolution, type ResolveOptions, takesReceipt } from './resolution.ts';

/**
 * Resolves a discrepancy as support has decided, with books, status and event, in the caller's
 * transaction. The state after it decides about later news of the gateway.
 * @throws OperatorRefusal when this decision is not possible. It changes nothing then.
 */
export async function resolveDiscrepancy(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Discrepancy> {
  const found = await findDiscrepancy(trx, id);
  if (!found) throw new OperatorRefusal(`There is no discrepancy ${id}`);
  // The payment's lock comes first, here as elsewhere.
  const locked = await lockPayments(trx, found, decision.as);
  const payment = locked && (await drain(trx, locked, options));
  const discrepancy = (await findDiscrepancy(trx, id, 'FOR UPDATE'))!;
  refuseResolved(discrepancy);
  const movement = await movementInSuspense(trx, discrepancy);
  const current = (await findCase(trx, id))!;
  refuseUnlessAllowed(current, decision.as);
  refuseReceipt(discrepancy, decision);
  if (payment) {
    await applyDecision(trx, { found: current, discrepancy, payment, movement }, decision, options);
    if (FREES_RECEIPTS.has(decision.as)) await askClaimants(trx, discrepancy, decision, options);
    const after = (await findPayment(trx, payment))!;
    if (!isOpen(after)) await supersedeDiscrepancies(trx, payment, ['overdue', 'never_taken']);
    // The question that its refund waited for may have been answered with a claimant.
    await goOn(trx, discrepancy, after, options);
  }
  if (found.kind === 'money_back') await keepSeen(trx, current);
  await markResolved(trx, id, decision);
  if (found.kind === 'money_back') await noteDismissed(trx, id);
  if (found.kind === 'unknown_movement' && !current.evidence_complete) {
    await openRest(trx, discrepancy.gateway, discrepancy);
  }
  if (payment && found.kind === 'failure_after_success') {
    await answerAtReversal(trx, payment);
    // Money comes back once: the gateway and a statement may have told it both. The question about a collection, which
    // stands on its reversal, is answered there.
    const isOther =
      "d.kind = 'failure_after_success' AND d.id <> CAST(:decided AS uuid) AND NOT d.details ? 'of'";
    const isBack = payment.kind !== 'collection' && decision.as === 'undo';
    if (isBack) await supersedeWhere(trx, payment, isOther, { decided: id });
  }
  if (payment && payment.kind !== 'collection') {
    await answerRows(trx, payment, discrepancy, decision.as);
  }
  if (payment && decision.as === 'accept-amount') await endQuestionsAboutAmount(trx, payment);
  // The payment may be without proof now. A later statement would say so: maybe none comes.
  if (payment && found.kind === 'receipt_of_another') await reportWithoutReceipt(trx, payment);
  return (await findDiscrepancy(trx, id))!;
}

/** Keeps what a row may bring back when somebody decides about it. */
async function keepSeen(trx: Transaction, current: DiscrepancyCase): Promise<void> {
  const { mayBeOut } = await candidatesOfAll(trx, current.gateway!, rowsIn(current));
  const shown = (current.details.candidates ?? []) as string[];
  await keepShown(trx, current.id, [...new Set([...shown, ...mayBeOut])]);
}

/** Lets the rows of statements that bring the money of a payment back say what this decision says. */
async function answerRows(
  trx: Transaction,
  payment: AnyPayment,
  { trans_id, details }: Discrepancy,
  as: Resolution,
): Promise<void> {
  // If support has called the money back, the row stays with it.
  const isDenied = details.has_come_back === true && as === 'dismissed';
  for (const each of isDenied ? await movementsOf(trx, payment) : []) {
    if (each.row_back === trans_id && each.back_at === null) await nameRowBack(trx, each, null);
  }
  // At a payment that has failed, only money that is back or awaited can be the row's.
  const hasFailed = `EXISTS (SELECT FROM ${STEP_TABLES[payment.kind].table} p WHERE p.merchant_id = d.merchant_id
    AND p.id = d.payment_id AND p.status = 'failed')`;
  await supersedeWhere(trx, payment, `${IS_ROW} AND (${IS_EXPLAINED} OR ${hasFailed})`);
  // Each decision may say that money is back, or that it is not.
  await askAboutRowsOf(trx, payment);
  await matchRows(trx, payment);
}

/** Applies the stored callbacks. A fault in that is the operators' to mend, and not support's. */
async function drain(trx: Transaction, payment: AnyPayment, { parserOf }: ResolveOptions) {
  return drainCallbacks(trx, payment, parserOf).catch((error: Error) => {
    if (!(error instanceof CallbackFault)) throw error;
    throw new OperatorRefusal(`${error.message}. The operators must mend that first (jobs list)`);
  });
}

/**
 * Locks the payment of a discrepancy, with the payments that claim a receipt which the decision may
 * free. All are locked in one order, because two decisions at once may each ask about the other's payment.
 * @returns the payment of the discrepancy, if that is here
 */
export async function lockPayments(
  trx: Transaction,
  discrepancy: Discrepancy,
  as: Resolution,
): Promise<AnyPayment | undefined> {
  const own = paymentOf(discrepancy);
  const collection = own && (await collectionOf(trx, own));
  const refs = own
    ? [own, ...(collection ? [collection] : []), ...(await othersOf(trx, discrepancy, as))]
    : paymentsIn(discrepancy);
  const locked = new Map<PaymentRef, AnyPayment | undefined>();
  for (const ref of refs.sort((one, other) => (one.id < other.id ? -1 : 1))) {
    locked.set(ref, await lockPayment(trx, ref));
  }
  return own ? locked.get(own) : undefined;
}

/** Returns the payments that a row may bring back. Another decision may call the money of one of them back at this moment. */
function paymentsIn({ kind, details }: Discrepancy): PaymentRef[] {
  if (kind !== 'money_back') return [];
  const names = (details.candidates ?? []) as string[];
  return names
    .map((name) => name.split(' '))
    .filter(([kind]) => kind === 'payout' || kind === 'reversal' || kind === 'return')
    .map(([kind, id, , , merchant]) => ({
      ...{ kind: kind as PaymentRef['kind'], merchant_id: Number(merchant), id: id! },
    }));
}

function refuseResolved({ id, resolved_at, resolution }: Discrepancy): void {
  if (!resolved_at) return;
  throw new OperatorRefusal(`Discrepancy ${id} is resolved already: ${resolution}`);
}

function refuseUnlessAllowed({ kind, allowed }: DiscrepancyCase, as: Resolution): void {
  if (allowed.includes(as)) return;
  throw new OperatorRefusal(
    `This discrepancy (${kind}) can only be resolved as ${allowed.join(', ')}`,
  );
}

/** Money in suspense has the gateway's own receipt, or none. */
function refuseReceipt({ kind }: Discrepancy, { transId, as }: Decision): void {
  if (kind === 'missing_at_gateway' && as === 'completed' && transId === null) {
    throw new OperatorRefusal('Give the receipt of the payment (trans-id)');
  }
  if (transId === null || as === 'parts' || takesReceipt(kind)) return;
  throw new OperatorRefusal('A receipt is only needed for a payment that is still open');
}

async function movementInSuspense(trx: Transaction, discrepancy: Discrepancy) {
  const { merchant_id, movement_id: id } = discrepancy;
  if (merchant_id === null || id === null) return null;
  const movement = await findMovement(trx, { merchant_id, id });
  return ['suspense', 'undoing'].includes(movement.booked) ? movement : null;
}
