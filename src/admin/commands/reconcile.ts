import { basename } from 'node:path';
import { formatAmount } from '../../domain/money.ts';
import type { PaymentRef } from '../../domain/payments/payment-store.ts';
import type { Reconciliation } from '../../domain/reconciliation/reconcile.ts';
import { breaksOf, reconcileStatement } from '../../domain/reconciliation/reconcile-statement.ts';
import { FROM_GATEWAY } from '../../domain/reconciliation/statement.ts';
import {
  LINE_KINDS,
  readStatementFile,
  StatementFileError,
} from '../../domain/reconciliation/statement-file.ts';
import { columnMap } from '../../operations/column-map.ts';
import {
  optional,
  required,
  UsageError,
  type ValuesOf,
  withDefault,
} from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import {
  askForStatement,
  comparisonWith,
  type GivenStatement,
  gatewayOf,
} from '../../service/reconciliation.ts';
import type { Service } from '../../service/service.ts';
import { shortened } from '../output/document.ts';
import { table } from '../output/table.ts';
import { type Answer, changes, type Noun } from '../verb.ts';

const MAX_PATH_LENGTH = 1_000;
const kinds = read.someOf(LINE_KINDS);
const path = read.text('PATH', MAX_PATH_LENGTH);

const options = {
  channel: required('channel', read.channel, 'The channel of the payments'),
  from: required('from', read.day, 'First day, in UTC also without --utc'),
  to: required('to', read.day, 'Last day, in UTC also without --utc'),
  gateway: optional('gateway', path, 'The account, where a driver has several'),
  file: optional('file', path, 'A CSV file with a header line'),
  columns: withDefault('columns', columnMap, "The file's names of columns, where not ours", {}),
  kind: optional('kind', read.oneOf(LINE_KINDS), 'The kind of all lines, if no column says it'),
  covers: optional('covers', kinds, 'The file has all lines of these. Default: the kind of --kind'),
  complete_until: optional('complete-until', read.moment, 'The file has all lines before this'),
  utcOffset: optional('utc-offset', read.utcOffset, "Of the file's times; required with --file"),
};
type Values = ValuesOf<typeof options>;

const run = changes({
  role: 'support',
  summary: "Compares a gateway's statement with the books, and settles what it shows",
  notes:
    'Without --file the gateway is asked. Differences become discrepancies, and open payments that the statement shows are settled by it. Overdue payments that it would have to list fail, unless the gateway, which is asked about each, says otherwise; with a file only before --complete-until, where a day stands for its start. It may be run again: nothing is booked twice.',
  options,
  argument: 'channel',
  check: ({ from, to, file, kind, covers, utcOffset, complete_until }) => {
    if (from > to) throw new UsageError('--from must not be after --to');
    if (file && !utcOffset) throw new UsageError('--utc-offset is required with --file');
    if (file && kind && covers) {
      throw new UsageError('--covers is for files whose lines have kinds: --kind says what it has');
    }
    if (!file && (covers || complete_until)) {
      throw new UsageError('--covers and --complete-until are about a --file');
    }
  },
  run: async (service, values, { audited }) => {
    const { from, to, channel } = values;
    const gateway = gatewayOf(service, channel, values.gateway);
    const statement = {
      gateway: gateway.name,
      channel: channel.code,
      period: { from, to },
      ...(await readStatement(service, gateway, values)),
    };
    const { import_id, result } = await reconcileStatement(
      service.database,
      audited,
      statement,
      comparisonWith(service, gateway),
    );
    return answerOf(import_id, statement.covers, result);
  },
});

async function readStatement(
  service: Service,
  gateway: ReturnType<typeof gatewayOf>,
  values: Values,
): Promise<GivenStatement> {
  const { file, kind, from, to } = values;
  if (!file) return askForStatement(service, gateway, { from, to });
  const { columns, channel, covers = [], complete_until = null } = values;
  const isMobileMoney = channel.type === 'Mobile Money';
  const format = { columns, kind, utcOffset: values.utcOffset!, isMobileMoney };
  const lines = await readStatementFile({ path: file, ...format }).catch((error: Error) => {
    if (!(error instanceof StatementFileError)) throw error;
    throw new UsageError(`${file} ${shortened(error.message)}`);
  });
  const source = basename(file) === FROM_GATEWAY ? `file ${FROM_GATEWAY}` : basename(file);
  return { lines, source, covers: kind ? [kind] : covers, complete_until };
}

function answerOf(import_id: string, covers: readonly string[], result: Reconciliation): Answer {
  const { lines, outside, answered, ruledOut } = result;
  const breaks = breaksOf(result).map(({ amount_cents, ...found }) => {
    return { ...found, amount: formatAmount(amount_cents) };
  });
  const clean = breaks.length === 0;
  const document = ({ kind, merchant_id, id }: PaymentRef) => ({ kind, merchant_id, id });
  const [settled, failed] = [answered.map(document), ruledOut.map(document)];
  return {
    data: { import_id, covers, lines, outside, clean, breaks, answered: settled, failed },
    lines: [
      `${lines.matched} lines match, ${lines.settled} were news and are booked`,
      outside > 0 && `${outside} lines are outside of the period, and still count`,
      covers.length === 0 &&
        'What it lacks was not looked for: say of a file what it --covers; an empty answer proves nothing',
      settled.map(({ kind, id }) => `Settled, as the gateway answered: ${kind} ${id}`),
      failed.map(({ kind, id }) => `Failed, since the statement rules it out: ${kind} ${id}`),
      clean ? 'No breaks' : `${breaks.length} breaks, each a discrepancy:`,
      !clean && table(breaks, ['break', 'kind', 'reference', ['RECEIPT', 'trans_id'], 'amount']),
    ],
  };
}

export const reconcile: Noun = {
  summary: "The gateway's statements against the books",
  verbs: { run },
  defaultVerb: 'run',
};
