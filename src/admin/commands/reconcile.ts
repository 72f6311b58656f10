import { formatAmount } from '../../domain/money.ts';
import type { PaymentRef } from '../../domain/payments/payment-store.ts';
import type { StatementImport, UnderstoodLine } from '../../domain/reconciliation/import-store.ts';
import { breaksOf } from '../../domain/reconciliation/reconcile-statement.ts';
import { checkStatement } from '../../operations/check-statement.ts';
import {
  type Compared,
  compareStatement,
  whyNotAlone,
} from '../../operations/compare-statement.ts';
import { flag } from '../../operations/field.ts';
import type { Result } from '../../operations/operation.ts';
import { perform } from '../../operations/perform.ts';

import { verbFor } from '../operation-verb.ts';
import { rowDocument } from '../output/document.ts';
import { moment, render, table } from '../output/table.ts';
import type { Answer, Noun, Verb } from '../verb.ts';

const plain = () => ({ document: (row: object) => rowDocument(row) });

/** Shows a stored statement, with its first lines as they were understood. */
const stored = () => ({
  ...plain(),
  lines: ({ row, more }: Result) => [
    render(rowDocument(row!)),
    'The first lines, as they are understood:',
    table((more as { understood: UnderstoodLine[] }).understood, [
      ...(['kind', ['RECEIPT', 'trans_id'], 'reference', 'account'] as const),
      ['AMOUNT', ({ amount_cents }) => formatAmount(amount_cents)],
      ['TIME', ({ completed_at }) => moment(completed_at)],
      ['UNDECIDED', ({ undecided }) => (undecided ? 'yes' : null)],
    ]),
  ],
});

const STRICT = {
  strict: flag(
    'strict',
    'Exit status 1 also for breaks, and for what the statement does not cover',
  ),
};

/** Adds --strict, so that a script notices a comparison that proves less than it seems to. */
function strictly(verb: Verb): Verb {
  return {
    ...verb,
    options: { ...verb.options, ...STRICT },
    run: async (service, { strict, ...given }, change) => {
      const answer = await verb.run(service, given, change);
      const { clean, not_covered } = answer.data as { clean?: boolean; not_covered?: string[] };
      const isProven = clean === true && not_covered?.length === 0;
      return strict ? { ...answer, isFailure: !isProven } : answer;
    },
  } as Verb;
}

const compare = strictly(
  verbFor(compareStatement, plain, async (_service, { result }) =>
    comparedAnswer(result.row as Compared),
  ),
);

/** Stores a statement and compares it in one go, unless a second person must compare it. */
const run = strictly({
  ...verbFor(checkStatement, plain, async (service, { result, change }) => {
    const statement = result.row as StatementImport;
    const { operator, reason } = change;
    const why = whyNotAlone(operator, statement);
    if (why !== null) return waitingAnswer(statement, why);
    const order = { service, operator, reason, subject: statement, values: {}, time: moment };
    const done = await perform(compareStatement, order);
    return comparedAnswer(done.result!.row as Compared);
  }),
  summary: "Compares a gateway's statement with the books, and settles what it shows",
  notes:
    'Without --file the gateway is asked. Differences become discrepancies, and open payments that the statement shows are settled by it. Overdue payments that it would have to list fail, unless the gateway, which is asked about each, says otherwise; with a file only before --complete-until, where a day stands for its start. It may be run again: nothing is booked twice. A file of a member of staff that says more than is known is only stored, and another member compares it: reconcile compare.',
});

function waitingAnswer({ id }: StatementImport, why: string): Answer {
  return {
    data: { import_id: id, compared: false, why },
    lines: [
      `Statement ${id} is stored, and not compared yet`,
      why,
      `For somebody else: reconcile compare ${id}`,
    ],
  };
}

function comparedAnswer({ statement: { id, covers, preview }, result }: Compared): Answer {
  const own_rows = preview?.own_rows ?? 0;
  const { lines, outside, answered, ruledOut, not_covered } = result;
  const breaks = breaksOf(result).map(({ amount_cents, ...found }) => {
    return { ...found, amount: formatAmount(amount_cents) };
  });
  const clean = breaks.length === 0;
  const document = ({ kind, merchant_id, id }: PaymentRef) => ({ kind, merchant_id, id });
  const [settled, failed] = [answered.map(document), ruledOut.map(document)];
  return {
    data: {
      import_id: id,
      covers,
      not_covered,
      lines,
      outside,
      own_rows,
      clean,
      breaks,
      answered: settled,
      failed,
    },
    lines: [
      `${lines.matched} lines match, ${lines.settled} were news and are booked`,
      outside > 0 && `${outside} lines are outside of the period, and still count`,
      own_rows > 0 && `${own_rows} rows are of own accounts, and settle nothing`,
      covers.length === 0 &&
        'What it lacks was not looked for: say of a file what it --covers; an empty answer proves nothing',
      not_covered.map((line) => `Not covered: ${line}`),
      settled.map(({ kind, id }) => `Settled, as the gateway answered: ${kind} ${id}`),
      failed.map(({ kind, id }) => `Failed, since the statement rules it out: ${kind} ${id}`),
      clean ? 'No breaks' : `${breaks.length} breaks, each a discrepancy:`,
      !clean && table(breaks, ['break', 'kind', 'reference', ['RECEIPT', 'trans_id'], 'amount']),
    ],
  };
}

export const reconcile: Noun = {
  summary: "The gateway's statements against the books",
  verbs: { run, check: verbFor(checkStatement, stored), compare },
  defaultVerb: 'run',
};
