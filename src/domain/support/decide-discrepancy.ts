import { type Database, inTransaction, type Transaction } from '../../connections/database.ts';
import type { Audited, AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { formatAmount } from '../money.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { type DiscrepancyCase, findCase } from './discrepancy-cases.ts';
import { type JournalRow, journalsOf } from './payment-file.ts';
import { type Decision, type ResolveOptions, resolveDiscrepancy } from './resolve-discrepancy.ts';

/** A discrepancy before and after the decision about it. */
export interface Decided {
  before: DiscrepancyCase;
  after: DiscrepancyCase;
  /** The journals that the decision booked. */
  booked: JournalDocument[];
}

/** A journal as people read it. */
export type JournalDocument = ReturnType<typeof journalDocument>;

/**
 * Settles a discrepancy as `resolveDiscrepancy` does, in a transaction of its own, and tells
 * what that has booked. The audit log keeps it.
 * @throws OperatorRefusal when it cannot be decided like that; nothing is changed then.
 */
export function decideDiscrepancy(
  audited: Audited,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Decided> {
  return audited((trx) => decideWithin(trx, id, decision, options));
}

/** Does the same in the caller's transaction, which the payment must be the first to lock in. */
export async function decideWithin(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<AuditedChange<Decided>> {
  const value = await decide(trx, id, decision, options);
  return { value, audit: auditOf(value, decision) };
}

/** Carries what a decision would do out of the transaction that it undoes. */
class Undone extends Error {
  readonly decided: Decided;

  constructor(decided: Decided) {
    super('A preview is undone');
    this.decided = decided;
  }
}

/**
 * Tells what a decision about a discrepancy would do: it is made, and undone at once.
 * @throws OperatorRefusal when it cannot be decided like that
 */
export async function previewDecision(
  database: Database,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Decided> {
  try {
    return await inTransaction(database, async (trx) => {
      throw new Undone(await decide(trx, id, decision, options));
    });
  } catch (error) {
    if (error instanceof Undone) return error.decided;
    throw error;
  }
}

async function decide(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Decided> {
  const found = await findCase(trx, id);
  if (!found) throw new OperatorRefusal(`There is no discrepancy ${id}`);
  const ref = paymentOf(found);
  // Locks the payment before reading, so that no other work counts as booked by this decision.
  if (ref) await lockPayment(trx, ref);
  const before = (await findCase(trx, id))!;
  const journals = async () => (ref ? journalsOf(trx, ref) : []);
  const known = new Set((await journals()).map((journal) => journal.id));
  await resolveDiscrepancy(trx, id, decision, options);
  const booked = (await journals()).filter((journal) => !known.has(journal.id));
  return { before, after: (await findCase(trx, id))!, booked: booked.map(journalDocument) };
}

function paymentOf({ payment_kind, merchant_id, payment_id }: DiscrepancyCase): PaymentRef | null {
  if (payment_kind === null || merchant_id === null || payment_id === null) return null;
  return { kind: payment_kind, merchant_id, id: payment_id };
}

function auditOf({ before, after, booked }: Decided, { as, transId }: Decision) {
  return {
    merchant_id: before.merchant_id,
    subject: `discrepancy ${before.id}`,
    details: {
      kind: before.kind,
      resolution: as,
      payment: before.payment_kind && `${before.payment_kind} ${before.payment_id}`,
      status: { from: before.status, to: after.status },
      ...(transId && { trans_id: transId }),
      journals: booked,
    },
  };
}

export function journalDocument({ id, source_kind, kind, created_at, entries }: JournalRow) {
  return {
    id,
    source: source_kind,
    kind,
    created_at: created_at.toISOString(),
    entries: entries.map(({ account, amount_cents }) => ({
      account,
      amount: formatAmount(amount_cents),
    })),
  };
}
