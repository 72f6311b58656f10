import type { Database } from '../../connections/database.ts';
import type { Audited } from '../audited-change.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { type ReconcileOptions, type Reconciliation, reconcile } from './reconcile.ts';
import { importStatement, type NewStatement } from './statement.ts';

/** A statement, with how far it is complete. */
export type CheckedStatement = NewStatement & Pick<ReconcileOptions, 'covers' | 'complete_until'>;

/**
 * Stores a statement and compares it with the books. The audit log keeps both: that it came,
 * and which payments it has moved.
 */
export async function reconcileStatement(
  database: Database,
  audited: Audited,
  statement: CheckedStatement,
  gateway: Pick<ReconcileOptions, 'settling_window_ms' | 'answer_window_ms' | 'ask' | 'parserOf'>,
): Promise<{ import_id: string; result: Reconciliation }> {
  const { source, lines, ...scope } = statement;
  const { period, covers, complete_until } = scope;
  const about = { merchant_id: null, subject: `channel ${scope.channel}` };
  const import_id = await audited(async (trx) => {
    const value = await importStatement(trx, statement);
    const imported = { source, covers, complete_until, lines: lines.length };
    const details = { ...period, ...imported, import_id: value };
    return { value, audit: { ...about, details } };
  });
  const result = await reconcile(database, { ...scope, ...gateway, import_id });
  const details = { import_id, ...settledBy(result) };
  await audited(async () => ({ value: null, audit: { ...about, details } }));
  return { import_id, result };
}

function settledBy({ lines, settled, answered, ruledOut }: Reconciliation) {
  const idsOf = (refs: PaymentRef[]) => refs.map(({ kind, id }) => `${kind} ${id}`);
  return {
    lines,
    counts: { settled: settled.length, answered: answered.length, failed: ruledOut.length },
    settled: idsOf(settled),
    answered: idsOf(answered),
    failed: idsOf(ruledOut),
  };
}

/** A difference between a statement and the books. */
export interface Break {
  break: string;
  kind: string;
  reference: string | null;
  trans_id: string | null;
  amount_cents: number;
}

/** Lists the differences in the words that people read. */
export function breaksOf({ unknown, missing, contradicting }: Reconciliation): Break[] {
  const breaks = (what: string, movements: Omit<Break, 'break'>[]) =>
    movements.map(({ kind, reference, trans_id, amount_cents }) => {
      return { break: what, kind, reference, trans_id, amount_cents };
    });
  return [
    ...breaks('at the gateway, not with us', unknown),
    ...breaks('with us, not at the gateway', missing),
    ...breaks('differing', contradicting),
  ];
}
