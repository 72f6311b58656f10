import { basename } from 'node:path';
import { databaseNow } from '../connections/database.ts';
import type { Channel } from '../domain/channels/channel.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { type Reconciliation, reconcile } from '../domain/reconciliation/reconcile.ts';
import {
  importStatement,
  momentsOf,
  type Period,
  type StatementLine,
} from '../domain/reconciliation/statement.ts';
import { queryRequestOf } from '../gateways/query-request.ts';
import type { Service } from '../process/boot.ts';
import { changes, optional, required, UsageError, type ValuesOf } from './command.ts';
import { channel, columnMap, day, moment, oneOf, someOf, text, utcOffset } from './readers.ts';
import { reconciliationAnswer } from './reconcile-view.ts';
import { readStatementFile } from './statement-file.ts';

const MAX_PATH_LENGTH = 1_000;

const LINE_KINDS = ['collection', 'payout', 'reversal'] as const;

const options = {
  channel: required(channel, 'Whose payments'),
  from: required(day, 'First day (UTC)'),
  to: required(day, 'Last day (UTC)'),
  file: optional(text('PATH', MAX_PATH_LENGTH), 'A CSV file with a head line'),
  columns: optional(columnMap, "The file's columns; those not named have our names"),
  kind: optional(oneOf(LINE_KINDS), 'What all of its lines are, where no column says it'),
  covers: optional(someOf(LINE_KINDS), 'Kinds of which the file has all. Default: that of --kind'),
  'complete-until': optional(moment, 'The file has all before it; a day is its beginning (UTC)'),
  'utc-offset': optional(utcOffset, "Of the file's times; required with --file"),
};

const run = changes({
  summary: "Compares a gateway's statement with the books, and settles what it shows",
  notes: [
    'Without --file the gateway is asked. What differs becomes a discrepancy, and open payments',
    'that the statement shows are settled by it. Overdue ones that it would have to list fail, if',
    'the gateway, asked about each, does not say otherwise: of a file only before --complete-until.',
    'It may be run again: nothing is booked twice.',
  ],
  options,
  check: checkOptions,
  run: async (context, values) => {
    const { service } = context;
    const { code } = values.channel;
    const period: Period = { from: values.from, to: values.to };
    const gateway = gatewayOf(service, values.channel);
    const { lines, source, covers, completeUntil } = await readStatement(service, gateway, values);
    const subject = `channel ${code}`;
    const importId = await context.audited(async (trx) => {
      const statement = { gateway: gateway.name, channel: code, period, source, lines };
      const id = await importStatement(trx, statement);
      const details = {
        ...period,
        source,
        covers,
        complete_until: completeUntil,
        lines: lines.length,
        import_id: id,
      };
      return { value: id, audit: { merchant_id: null, subject, details } };
    });
    const result = await reconcile(service.database, {
      import_id: importId,
      gateway: gateway.name,
      channel: code,
      period,
      covers,
      complete_until: completeUntil,
      settling_window_ms: gateway.settlingWindowMs,
      ask: (payment) => gateway.query(queryRequestOf(service.config, payment)),
    });
    const details = { import_id: importId, ...settledBy(result) };
    await context.audited(async () => ({
      value: null,
      audit: { merchant_id: null, subject, details },
    }));
    return reconciliationAnswer(importId, covers, result);
  },
});

type Values = ValuesOf<typeof options>;

function checkOptions(values: Values): void {
  if (values.from > values.to) throw new UsageError('--from must not be after --to');
  if (values.file) {
    if (!values['utc-offset']) throw new UsageError('--utc-offset is required with --file');
    if (values.kind && values.covers) {
      throw new UsageError('--covers is for files whose lines have kinds: --kind says what it has');
    }
  } else if (values.covers || values['complete-until']) {
    throw new UsageError('--covers and --complete-until are about a --file');
  }
}

interface Statement {
  lines: StatementLine[];
  source: string;
  covers: readonly StatementLine['kind'][];
  completeUntil: Date | null;
}

async function readStatement(
  { database }: Service,
  gateway: Gateway,
  values: Values,
): Promise<Statement> {
  const { file, kind } = values;
  if (!file) {
    // What moves while the gateway answers may be missing in it.
    const completeUntil = await databaseNow(database);
    const lines = await askForStatement(gateway, values);
    return { lines, source: 'gateway', covers: LINE_KINDS, completeUntil };
  }
  const lines = await readStatementFile({
    path: file,
    columns: values.columns ?? {},
    kind,
    utcOffset: values['utc-offset']!,
    isMobileMoney: values.channel.type === 'Mobile Money',
  });
  const covers = kind ? [kind] : (values.covers ?? []);
  return { lines, source: basename(file), covers, completeUntil: values['complete-until'] ?? null };
}

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

/** For the audit log: which payments have moved because of this statement, and how many. */
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

export const reconcileVerbs = { run };
