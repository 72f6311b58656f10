import { basename } from 'node:path';
import type { Service } from '../boot.ts';
import type { Channel } from '../domain/channels/channel.ts';
import { formatAmount } from '../domain/money.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { StoredLine } from '../domain/reconciliation/match-statement.ts';
import {
  type MissingMovement,
  type Reconciliation,
  reconcile,
} from '../domain/reconciliation/reconcile.ts';
import {
  importStatement,
  momentsOf,
  type Period,
  type StatementLine,
} from '../domain/reconciliation/statement.ts';
import { type Answer, changes, optional, optionalOr, required, UsageError } from './command.ts';
import { columns } from './output.ts';
import { channel, columnMap, day, oneOf, text, utcOffset } from './readers.ts';
import { readStatementFile } from './statement-file.ts';

const MAX_PATH_LENGTH = 1_000;

const run = changes({
  summary: "Compares a gateway's statement with the books, and settles what it shows",
  notes: [
    'Without --file the gateway is asked. What differs becomes a discrepancy; open payments that',
    'the statement shows are settled by it, and overdue ones that it rules out fail.',
    'It may be run again: nothing is booked twice.',
  ],
  options: {
    channel: required(channel, 'Whose payments'),
    from: required(day, 'First day (UTC)'),
    to: required(day, 'Last day (UTC)'),
    file: optional(text('PATH', MAX_PATH_LENGTH), 'A CSV file with a head line'),
    columns: optional(columnMap, "The file's columns; those not named have our names"),
    kind: optional(
      oneOf(['collection', 'payout', 'reversal'] as const),
      'What all of its lines are, where no column says it',
    ),
    'utc-offset': optionalOr(utcOffset, '+00:00', "Of the file's times. Default: +00:00"),
  },
  check: ({ from, to }) => {
    if (from > to) throw new UsageError('--from must not be after --to');
  },
  run: async (context, values) => {
    const { service } = context;
    const { code } = values.channel;
    const period: Period = { from: values.from, to: values.to };
    const gateway = gatewayOf(service, values.channel);
    const lines = values.file
      ? await readStatementFile({
          path: values.file,
          columns: values.columns ?? {},
          kind: values.kind,
          utcOffset: values['utc-offset'],
        })
      : await askForStatement(gateway, period);
    const source = values.file ? basename(values.file) : 'gateway';
    const importId = await context.audited(async (trx) => {
      const statement = { gateway: gateway.name, channel: code, period, source, lines };
      const id = await importStatement(trx, statement);
      const details = { ...period, source, lines: lines.length, import_id: id };
      return { value: id, audit: { merchantId: null, subject: `channel ${code}`, details } };
    });
    const result = await reconcile(service.database, {
      importId,
      gateway: gateway.name,
      channel: code,
      period,
      settlingWindowMs: gateway.settlingWindowMs,
    });
    return answerOf(importId, result);
  },
});

type Gateway = NonNullable<ReturnType<Service['gateways']['get']>>;

function gatewayOf({ config, gateways }: Service, { code, name }: Channel): Gateway {
  const gateway = gateways.get(config.channels.get(code) ?? '');
  if (gateway) return gateway;
  throw new OperatorRefusal(`Channel ${code} (${name}) has no driver: CHANNELS does not name one`);
}

async function askForStatement(gateway: Gateway, period: Period): Promise<StatementLine[]> {
  const { start, end } = momentsOf(period);
  if (!gateway.statement) {
    throw new OperatorRefusal(`The driver ${gateway.name} gives no statements: use --file`);
  }
  const answer = await gateway.statement(start, end);
  if (answer.outcome === 'lines') return answer.lines;
  throw new OperatorRefusal(`The gateway gave no statement: ${answer.reason}`);
}

function answerOf(importId: string, result: Reconciliation): Answer {
  const { lines, unknown, contradicting, missing, ruledOut } = result;
  const breaks = [
    ...unknown.map((line) => breakOfLine('at the gateway, not with us', line)),
    ...missing.map(breakOfMovement),
    ...contradicting.map((line) => breakOfLine('differing', line)),
  ];
  const clean = breaks.length === 0;
  return {
    data: {
      import_id: importId,
      lines,
      clean,
      breaks,
      failed: ruledOut.map(({ kind, merchantId, id }) => ({ kind, merchant_id: merchantId, id })),
    },
    lines: [
      `${lines.matched} lines match, ${lines.settled} were news and are booked`,
      ...ruledOut.map(({ kind, id }) => `Failed, since the statement rules it out: ${kind} ${id}`),
      ...(clean ? ['No breaks'] : [`${breaks.length} breaks, each a discrepancy:`]),
      ...(clean ? [] : columns([TITLES, ...breaks.map((row) => Object.values(row).map(cell))])),
    ],
  };
}

const TITLES = ['BREAK', 'KIND', 'REFERENCE', 'RECEIPT', 'AMOUNT'];

function cell(value: string | null): string {
  return value ?? '-';
}

function breakOfLine(what: string, line: StoredLine) {
  const { kind, reference, trans_id, amount_cents } = line;
  return { break: what, kind, reference, trans_id, amount: formatAmount(amount_cents) };
}

function breakOfMovement({ kind, payment_id, trans_id, amount_cents }: MissingMovement) {
  const amount = formatAmount(amount_cents);
  return { break: 'with us, not at the gateway', kind, reference: payment_id, trans_id, amount };
}

export const reconcileVerbs = { run };
