import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { NOBODY } from '../../src/domain/access/asker.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { transfer } from '../../src/domain/wallets/transfer.ts';
import { newCompletedCollection, newPayment, newPayout, PAYMENT_KINDS } from './payment-kinds.ts';
import { failed, learn, newCollection, parserOf, reread, succeeded } from './payments.ts';
import { OTHER_AMOUNT_CENTS, STRANGER, SUCCESS } from './settle-stories.ts';
import { RESOLVING } from './submissions.ts';
import type { TestMerchant } from './test-merchant.ts';

const OTHER_AMOUNT = succeeded({ amountCents: OTHER_AMOUNT_CENTS });
const NEWS: readonly (Verdict | null)[] = [null, SUCCESS, failed(), OTHER_AMOUNT, STRANGER];

/** Payments of every kind in every state, with what support makes of them. */
export async function fillBooks(database: Database, merchant: TestMerchant): Promise<void> {
  for (const kind of PAYMENT_KINDS) {
    for (const news of NEWS) {
      const payment = await newPayment(kind, database, merchant);
      if (news) await learn(database, payment, news);
    }
  }
  await refund(database, await failedPayout(database, merchant));
  const paidAfterRefund = await failedPayout(database, merchant);
  await refund(database, paidAfterRefund);
  await learn(database, paidAfterRefund, SUCCESS);
  await resolve(database, paidAfterRefund, 'completed');
  for (const kind of PAYMENT_KINDS) await letSupportDecide(database, merchant, kind);
  await newCompletedCollection(database, merchant);
  await inTransaction(database, (trx) =>
    transfer(trx, {
      ...NOBODY,
      merchant_id: merchant.merchant_id,
      amount_cents: 100,
      ref_no: 'to-payouts',
    }),
  );
}

async function letSupportDecide(
  database: Database,
  merchant: TestMerchant,
  kind: AnyPayment['kind'],
): Promise<void> {
  const told = await newPayment(kind, database, merchant);
  for (const news of [SUCCESS, OTHER_AMOUNT]) await learn(database, told, news);
  await resolve(database, told, kind === 'return' ? 'dismissed' : 'accept-amount');
  for (const as of ['accept-amount', 'returned'] as const) {
    if (kind === 'return' && as === 'accept-amount') continue;
    const payment = await newPayment(kind, database, merchant);
    await learn(database, payment, OTHER_AMOUNT);
    await resolve(database, payment, as);
  }
}

/** A payout that failed, and whose money is not back yet. */
export async function failedPayout(database: Database, merchant: TestMerchant): Promise<Payout> {
  const payout = await newPayout(database, merchant);
  await learn(database, payout, failed());
  return payout;
}

export async function refund(database: Database, payout: Payout): Promise<void> {
  const { step_no } = await reread(database, payout);
  await refundPayout(database, refOf(payout), step_no, { parserOf });
}

/** Settles the open discrepancies of a payment. */
async function resolve(database: Database, payment: AnyPayment, as: Resolution): Promise<void> {
  const open = await rows<{ id: string }>(
    database,
    `SELECT id FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_id = :id AND resolved_at IS NULL`,
    { merchant_id: payment.merchant_id, id: payment.id },
  );
  const decision = { as, actor: 'tester', reason: 'because', transId: null };
  for (const { id } of open) {
    await inTransaction(database, (trx) => resolveDiscrepancy(trx, id, decision, RESOLVING));
  }
}

/** What goes on all day: collections and payouts that succeed, fail and are refunded. */
export async function makeTraffic(
  database: Database,
  merchant: TestMerchant,
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const collection = await newCollection(database, merchant);
    await learn(database, collection, round % 2 ? SUCCESS : failed());
    await learn(database, collection, SUCCESS);
    const payout = await newPayout(database, merchant);
    await learn(database, payout, round % 3 ? failed() : SUCCESS);
    if (round % 3 === 1) await refund(database, payout);
  }
}
