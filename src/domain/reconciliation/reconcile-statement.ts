import type { Database, Transaction } from '../../connections/database.ts';
import { leaseHolder } from '../../connections/locks.ts';
import type { Audited, AuditedChange } from '../audit/audit.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { notCovered } from './coverage.ts';
import { keepResult, whileComparing } from './import-store.ts';
import { type ReconcileOptions, type Reconciliation, reconcile } from './reconcile.ts';
import { importStatement, type NewStatement } from './statement.ts';

/** A statement, with how far it is complete. */
export type CheckedStatement = NewStatement & Pick<ReconcileOptions, 'covers' | 'complete_until'>;

type Comparing = Pick<
  ReconcileOptions,
  'settling_window_ms' | 'answer_window_ms' | 'ask' | 'parserOf' | 'stopping'
> & {
  /** The accounts with gateways that channels use. */
  accounts?: readonly string[];
};

/** The findings of a comparison, with what it leaves open. */
export interface Comparison extends Reconciliation {
  not_covered: string[];
}

/** Stores a statement, with the line for the audit log. @returns its id */
export async function keepStatement(
  trx: Transaction,
  statement: CheckedStatement,
): Promise<AuditedChange<string>> {
  const { source, lines, period, covers, complete_until, channel } = statement;
  const value = await importStatement(trx, statement);
  const imported = { source, covers, complete_until, lines: lines.length };
  const details = { ...period, ...imported, import_id: value };
  return { value, audit: { merchant_id: null, subject: `channel ${channel}`, details } };
}

/**
 * Compares a stored statement with the books, and keeps what that has found. It may run again.
 * @param holder names the process that compares
 */
export function compareImport(
  database: Database,
  audited: Audited,
  statement: ComparedStatement,
  gateway: Comparing,
  holder = leaseHolder(),
): Promise<Comparison> {
  return whileComparing(database, statement.import_id, holder, () =>
    compare(database, audited, statement, gateway),
  );
}

async function compare(
  database: Database,
  audited: Audited,
  { import_id, ...statement }: ComparedStatement,
  { accounts = [], ...gateway }: Comparing,
): Promise<Comparison> {
  const { period, channel, covers, complete_until } = statement;
  const { gateway: name, agreed_cents = null } = statement;
  const scope = { period, channel, covers, complete_until, gateway: name, import_id, agreed_cents };
  const found = await reconcile(database, { ...scope, ...gateway });
  const result = { ...found, not_covered: await notCovered(database, scope, accounts) };
  const details = { import_id, ...settledBy(result) };
  await audited(async (trx) => {
    await keepResult(trx, import_id, resultOf(result));
    return { value: null, audit: { merchant_id: null, subject: `channel ${channel}`, details } };
  });
  return result;
}

type ComparedStatement = Omit<CheckedStatement, 'lines' | 'source'> &
  Pick<ReconcileOptions, 'agreed_cents'> & { import_id: string };

/** The most missing movements that an import's page shows. Each one is a discrepancy. */
const MAX_KEPT_MISSING = 200;

function resultOf(comparison: Comparison) {
  const { lines, outside, missing, settled, answered, ruledOut, not_covered } = comparison;
  return {
    lines,
    not_covered,
    outside,
    settled: settled.length,
    answered: answered.length,
    failed: ruledOut.length,
    missing_count: missing.length,
    missing: missing.slice(0, MAX_KEPT_MISSING),
  };
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
