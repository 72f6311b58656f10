import { formatAmount } from '../domain/money.ts';
import type { PaymentRef } from '../domain/payments/payment-store.ts';
import type { MissingMovement } from '../domain/reconciliation/missing-movements.ts';
import type { Reconciliation } from '../domain/reconciliation/reconcile.ts';
import type { StoredLine } from '../domain/reconciliation/statement.ts';
import type { Answer } from './command.ts';
import { columns } from './output.ts';
import { shortened } from './support-view.ts';

/** What a reconciliation came to, as `reconcile` answers it. */
export function reconciliationAnswer(
  importId: string,
  covers: readonly string[],
  result: Reconciliation,
): Answer {
  const { lines, outside, unknown, contradicting, missing, answered, ruledOut } = result;
  const breaks = [
    ...unknown.map((line) => breakOfLine('at the gateway, not with us', line)),
    ...missing.map(breakOfMovement),
    ...contradicting.map((line) => breakOfLine('differing', line)),
  ];
  const clean = breaks.length === 0;
  return {
    data: {
      import_id: importId,
      covers,
      lines,
      outside,
      clean,
      breaks,
      answered: answered.map(documentOf),
      failed: ruledOut.map(documentOf),
    },
    lines: [
      `${lines.matched} lines match, ${lines.settled} were news and are booked`,
      ...(outside > 0
        ? [`${outside} lines are outside of the period, and count all the same`]
        : []),
      ...(covers.length === 0 ? ['What it lacks was not looked for: say what it --covers'] : []),
      ...answered.map(({ kind, id }) => `Settled, as the gateway answered: ${kind} ${id}`),
      ...ruledOut.map(({ kind, id }) => `Failed, since the statement rules it out: ${kind} ${id}`),
      ...(clean ? ['No breaks'] : [`${breaks.length} breaks, each a discrepancy:`]),
      ...(clean ? [] : columns([TITLES, ...breaks.map((row) => Object.values(row).map(cell))])),
    ],
  };
}

function documentOf({ kind, merchant_id: merchantId, id }: PaymentRef) {
  return { kind, merchant_id: merchantId, id };
}

const TITLES = ['BREAK', 'KIND', 'REFERENCE', 'RECEIPT', 'AMOUNT'];

function cell(value: string | null): string {
  return value === null ? '-' : shortened(value);
}

function breakOfLine(what: string, line: StoredLine) {
  const { kind, reference, trans_id, amount_cents } = line;
  return { break: what, kind, reference, trans_id, amount: formatAmount(amount_cents) };
}

function breakOfMovement({ kind, payment_id, trans_id, amount_cents }: MissingMovement) {
  const amount = formatAmount(amount_cents);
  return { break: 'with us, not at the gateway', kind, reference: payment_id, trans_id, amount };
}
