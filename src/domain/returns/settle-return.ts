import type { Transaction } from '../../database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import {
  type DiscrepancyKind,
  openDiscrepancy,
  resolveDiscrepancy,
} from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import {
  fillReceipt,
  insertMovement,
  type Movement,
  movementsOf,
  repeatedMovement,
} from '../payments/movements.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import { isOpen } from '../payments/payment.ts';
import { fillEmpty, refOf } from '../payments/payment-store.ts';
import { reportContradiction } from '../payments/report-contradiction.ts';
import type { Settlement } from '../payments/settle.ts';
import { transition } from '../transition.ts';
import { postJournal } from '../wallets/ledger.ts';
import type { Return } from './return.ts';

/**
 * Applies a gateway's verdict to a locked return. Money that the customer got leaves
 * suspense; a return that failed leaves it there, on the support list.
 */
export async function settleReturn(
  trx: Transaction,
  payment: Return,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, payment);
  return verdict.outcome === 'succeeded'
    ? applySuccess(trx, payment, known, verdict, cause)
    : applyFailure(trx, payment, known, verdict, cause);
}

async function applySuccess(
  trx: Transaction,
  payment: Return,
  known: Movement[],
  news: Succeeded,
  cause: string,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) {
    await fillReceipt(trx, payment, repeated, news.transId);
    await fillEmpty(trx, payment, { trans_id: news.transId, external_ref: news.externalRef });
    return reportContradiction(trx, payment, repeated, news, payment.account);
  }
  const movement = await insertMovement(trx, payment, news, 'settled');
  await bookOutOfSuspense(trx, payment, movement);
  const problem = problemOf(payment, known, news);
  if (problem) {
    await openDiscrepancy(trx, {
      kind: problem,
      payment: refOf(payment),
      transId: movement.trans_id,
      amountCents: movement.amount_cents,
      details: { asked_cents: payment.amount_cents, account: news.account },
    });
    if (isOpen(payment)) {
      await changeStep(trx, refOf(payment), { park: `discrepancy: ${problem}` });
    }
    return 'discrepancy';
  }
  await resolveDiscrepancy(trx, 'return_failed', refOf(payment));
  await transition(trx, payment, {
    to: 'completed',
    set: successColumns(payment, news),
    step: 'none',
    cause,
  });
  return 'completed';
}

function problemOf(payment: Return, known: Movement[], news: Succeeded): DiscrepancyKind | null {
  if (known.length > 0) return 'second_success';
  if (news.amountCents !== null && news.amountCents !== payment.amount_cents) return 'other_amount';
  if (news.account !== null && news.account !== payment.account) return 'other_account';
  return null;
}

async function bookOutOfSuspense(
  trx: Transaction,
  payment: Return,
  movement: Movement,
): Promise<void> {
  await postJournal(trx, {
    merchantId: payment.merchant_id,
    sourceKind: 'movement',
    sourceId: movement.id,
    kind: 'returned',
    lines: [
      { account: 'suspense', amountCents: -movement.amount_cents },
      { account: 'gateway_float', amountCents: movement.amount_cents },
    ],
  });
}

async function applyFailure(
  trx: Transaction,
  payment: Return,
  known: Movement[],
  news: Failed,
  cause: string,
): Promise<Settlement> {
  if (payment.status === 'failed') return 'repeat';
  const kind = known.length > 0 ? 'failure_after_success' : 'return_failed';
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    amountCents: payment.amount_cents,
    details: { code: news.code, description: news.description },
  });
  if (known.length > 0) return 'discrepancy';
  await transition(trx, payment, {
    to: 'failed',
    set: failureColumns(payment, news),
    step: 'none',
    cause,
  });
  return 'failed';
}
