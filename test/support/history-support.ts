import { type Database, inTransaction } from '../../src/connections/database.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import { findPayment } from '../../src/domain/payments/payment-store.ts';
import { type DiscrepancyCase, listCases } from '../../src/domain/support/discrepancy-cases.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import type { History } from './history.ts';
import { RESOLVING } from './submissions.ts';

const MAX_CASES = 100;

type Told = Pick<History, 'world' | 'gateway'>;

/** Lists what nobody has decided about a merchant's payments. */
export function openCases(
  database: Database,
  { merchant_id }: { merchant_id: number },
): Promise<DiscrepancyCase[]> {
  return listCases(database, { open: true, merchant_id, limit: MAX_CASES });
}

/** Decides about one of the open discrepancies by one of the words that the list offers. */
export async function decideOne(
  database: Database,
  told: Told,
  merchant: { merchant_id: number },
  { who, word }: { who: number; word: number },
): Promise<void> {
  const open = await openCases(database, merchant);
  const found = open[who % Math.max(1, open.length)];
  if (found) await decide(database, told, found, found.allowed[word % found.allowed.length]!);
}

/** @returns whether the decision was possible */
export async function decide(
  database: Database,
  told: Told,
  found: DiscrepancyCase,
  as: Resolution,
): Promise<boolean> {
  // Support says that a payment is completed only when it is.
  if (found.kind === 'overdue' && as === 'completed' && !(await hasMoved(database, told, found))) {
    return false;
  }
  const resolving = { ...RESOLVING, parserOf: told.gateway.parserOf };
  const decision = { as, actor: 'tester', reason: 'because', transId: null };
  try {
    await inTransaction(database, (trx) => resolveDiscrepancy(trx, found.id, decision, resolving));
    return true;
  } catch (error) {
    if (error instanceof OperatorRefusal) return false;
    throw error;
  }
}

async function hasMoved(database: Database, told: Told, found: DiscrepancyCase) {
  const { payment_kind: kind, merchant_id, payment_id: id } = found;
  const payment = await findPayment(database, {
    kind: kind!,
    merchant_id: merchant_id!,
    id: id!,
  });
  return told.world.hasMoved(payment!);
}
