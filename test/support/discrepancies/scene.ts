import { type Database, firstRow, inTransaction, rows } from '../../../src/connections/database.ts';
import type { DiscrepancyKind } from '../../../src/domain/discrepancies/discrepancy.ts';
import { openOverdue } from '../../../src/domain/discrepancies/overdue.ts';
import type { Verdict } from '../../../src/domain/gateway-results.ts';
import type { Return } from '../../../src/domain/payments/kinds.ts';
import { type AnyPayment, refOf } from '../../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../../src/domain/settlement/refund-payout.ts';
import type { Discrepancy } from '../../../src/domain/support/discrepancy-cases.ts';
import type { Resolution } from '../../../src/domain/support/resolution.ts';
import { resolveDiscrepancy } from '../../../src/domain/support/resolve-discrepancy.ts';
import { rewrite } from '../database.ts';
import { learn, parserOf, reread } from '../payments.ts';
import { RESOLVING, UNKNOWN, workOn } from '../submissions.ts';
import type { TestMerchant } from '../test-merchant.ts';

/** Where something does not add up: a merchant of its own, in a database. */
export interface Scene {
  database: Database;
  merchant: TestMerchant;
}

/** The gateway's news of a payment, in order. @returns the payment afterwards. */
export async function hear<P extends AnyPayment>(
  { database }: Scene,
  payment: P,
  ...news: Verdict[]
): Promise<P> {
  for (const verdict of news) await learn(database, payment, verdict);
  return reread(database, payment);
}

/** What the refunds worker does. */
export async function refund({ database }: Scene, payout: AnyPayment): Promise<void> {
  const { step_no } = await reread(database, payout);
  await refundPayout(database, refOf(payout), step_no, { parserOf });
}

export async function passDeadline({ database }: Scene, payment: AnyPayment): Promise<void> {
  const table = `${payment.kind}s`;
  await rewrite(
    database,
    `UPDATE ${table} SET deadline_at = now() - interval '1 second' WHERE id = :id`,
    { id: payment.id },
  );
}

/** Submitted without an answer, past its deadline, and asked about in vain. */
export async function makeOverdue<P extends AnyPayment>(scene: Scene, payment: P): Promise<P> {
  const work = workOn(scene.database, payment);
  await work.answer(await work.claim(), UNKNOWN);
  await passDeadline(scene, payment);
  await work.hear({ outcome: 'noAnswer', reason: 'timeout' });
  await openOverdue(scene.database);
  return reread(scene.database, payment);
}

/** Past its deadline before it could be sent. */
export async function neverTake<P extends AnyPayment>(scene: Scene, payment: P): Promise<P> {
  await passDeadline(scene, payment);
  await workOn(scene.database, payment).claim();
  return reread(scene.database, payment);
}

/** The discrepancy of the scene, or of one payment of several. */
export async function discrepancyOf(
  { database, merchant }: Scene,
  kind: DiscrepancyKind,
  payment?: AnyPayment,
): Promise<Discrepancy> {
  const found = await firstRow<Discrepancy>(
    database,
    `SELECT * FROM discrepancies WHERE merchant_id = :merchant_id AND kind = :kind
       AND payment_id = coalesce(CAST(:id AS uuid), payment_id)
     ORDER BY id LIMIT 1`,
    { merchant_id: merchant.merchant_id, kind, id: payment?.id ?? null },
  );
  if (!found) throw new Error(`There is no discrepancy ${kind}`);
  return found;
}

export function resolve(
  { database }: Scene,
  { id }: Pick<Discrepancy, 'id'>,
  as: Resolution,
  transId: string | null = null,
): Promise<Discrepancy> {
  const decision = { as, actor: 'tester', reason: 'because', transId };
  return inTransaction(database, (trx) => resolveDiscrepancy(trx, id, decision, RESOLVING));
}

/** The sums of a merchant's accounts in cents; what is even is left out. */
export async function booksOf({ database, merchant }: Scene): Promise<Record<string, number>> {
  const sums = await rows<{ account: string; sum: number }>(
    database,
    `SELECT account, sum(amount_cents)::bigint AS sum FROM entries
     WHERE merchant_id = :id GROUP BY account HAVING sum(amount_cents) <> 0`,
    { id: merchant.merchant_id },
  );
  return Object.fromEntries(sums.map(({ account, sum }) => [account, sum]));
}

/** What suspense must hold: what waits for a decision or a return, and nothing else. */
export async function suspenseOwed({ database, merchant }: Scene): Promise<number> {
  const row = await firstRow<{ owed: number }>(
    database,
    `SELECT coalesce(sum(CASE m.payment_kind WHEN 'collection' THEN m.amount_cents
         ELSE -m.amount_cents END), 0)::bigint AS owed
     FROM movements m
     WHERE m.merchant_id = :id AND m.booked IN ('suspense', 'undoing', 'returning')`,
    { id: merchant.merchant_id },
  );
  return row!.owed;
}

export async function eventsOf({ database }: Scene, payment: AnyPayment): Promise<string[]> {
  const events = await rows<{ type: string }>(
    database,
    'SELECT type FROM events WHERE payment_id = :id ORDER BY created_at',
    { id: payment.id },
  );
  return events.map(({ type }) => type.replace('transaction.', ''));
}

/** What is on its way back to customers, oldest first. */
export async function returnsOf({ database, merchant }: Scene): Promise<Return[]> {
  const found = await rows<Return>(
    database,
    'SELECT * FROM returns WHERE merchant_id = :id ORDER BY id',
    { id: merchant.merchant_id },
  );
  return found.map((row) => ({ ...row, kind: 'return' }));
}
