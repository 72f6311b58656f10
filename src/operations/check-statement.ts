import { databaseNow } from '../connections/database.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { findImport, firstLines } from '../domain/reconciliation/import-store.ts';
import { keepPreview, previewStatement } from '../domain/reconciliation/preview-statement.ts';
import {
  type CheckedStatement,
  keepStatement,
} from '../domain/reconciliation/reconcile-statement.ts';
import {
  refuseOtherAccount,
  refuseOtherClock,
  refuseOtherDays,
} from '../domain/reconciliation/refuse-file.ts';
import { FROM_GATEWAY, LINE_KINDS, momentsOf } from '../domain/reconciliation/statement.ts';
import { MAX_LINES } from '../domain/reconciliation/statement-file.ts';
import { askForStatement, type GivenStatement, gatewayOf } from '../service/reconciliation.ts';
import type { Service } from '../service/service.ts';
import { optional, required, UsageError, type ValuesOf, withDefault } from './field.ts';
import { type Deed, define } from './operation.ts';
import * as read from './readers.ts';
import { FILE_FORM, file, type GivenFile, MAX_NAME_LENGTH, parseFile } from './statement-file.ts';

const fields = {
  channel: required('channel', read.channel, 'The channel of the payments'),
  from: required('from', read.day, 'First day, in UTC also without --utc', { label: 'First day' }),
  to: required('to', read.day, 'Last day, in UTC also without --utc', { label: 'Last day' }),
  gateway: optional(
    'gateway',
    read.text('NAME', MAX_NAME_LENGTH),
    'The account, where a driver has several',
    { label: 'Account' },
  ),
  file: optional('file', file, 'A CSV file with a header line'),
  ...FILE_FORM,
  kind: optional('kind', read.oneOf(LINE_KINDS), 'The kind of all lines, if no column says it', {
    label: 'Kind of all lines',
    unchosen: 'as a column says',
  }),
  covers: optional(
    'covers',
    read.orNone(read.someOf(LINE_KINDS)),
    'The file has all lines of these. Default: that of --kind',
  ),
  complete_until: optional('complete-until', read.moment, 'The file has all lines before this'),
  max_lines: withDefault(
    'max-lines',
    read.integer('COUNT', 1, MAX_LINES),
    `Refuse a statement with more lines. Default: ${MAX_LINES}`,
    MAX_LINES,
  ),
};
type Values = ValuesOf<typeof fields>;

/** Stores a statement of a file or of the gateway, and says what its comparison would find. */
export const checkStatement = define({
  name: 'reconcile.check',
  role: 'support',
  title: 'Compare a statement',
  button: 'Store it and see what it would find',
  summary: "Stores a gateway's statement, and says what its comparison with the books would find",
  notes: 'Without --file the gateway is asked. Nothing else changes before reconcile compare.',
  argument: 'channel',
  fields,
  check: ({ from, to, file, kind, covers = [], complete_until }) => {
    if (from > to) throw new UsageError('The last day (to) is before the first (from)');
    if (file && kind && covers.length > 0) {
      throw new UsageError(
        'A file of one kind covers this kind: leave out what it covers (covers)',
      );
    }
    if (!file && (covers.length > 0 || complete_until)) {
      throw new UsageError('Only a file covers kinds (covers), or is complete until a moment');
    }
  },
  preview: () => [
    'The statement is stored, with what its comparison with the books would find. Nothing else changes before somebody confirms that.',
  ],
  perform: async (deed, values) => {
    const { channel, from, to, max_lines } = values;
    const { service, member } = deed;
    const gateway = gatewayOf(service, channel, values.gateway);
    const period = { from, to };
    await requirePast(service, values);
    const given = values.file
      ? await readFile(service, values.file, values)
      : await askForStatement(service, gateway, period);
    if (given.lines.length > max_lines) {
      throw new OperatorRefusal(
        `The statement has over ${max_lines} lines: take fewer days, or the command line`,
      );
    }
    const brought_by = values.file ? (member?.email ?? null) : null;
    const of = { period, gateway: gateway.name, channel: channel.code, brought_by };
    const id = await keepDraft(deed, { ...given, ...of }, gateway.settlingWindowMs);
    const row = (await findImport(service.database, id))!;
    const understood = await firstLines(service.database, id);
    const title = `Statement ${id} is stored, and not compared yet`;
    return { title, row, more: { understood } };
  },
});

/** Refuses days that have not begun, and a file that claims to know what has not happened yet. */
async function requirePast({ database }: Service, values: Values): Promise<void> {
  const { from, to, complete_until } = values;
  const now = await databaseNow(database);
  if (momentsOf({ from, to }).start > now) {
    throw new UsageError(`The first day, ${from}, has not begun yet: days are UTC (from)`);
  }
  if (!complete_until || complete_until <= now) return;
  throw new UsageError(
    'No file has all lines before a moment that is still to come (complete-until)',
  );
}

async function readFile(
  service: Service,
  given: GivenFile,
  values: Values,
): Promise<GivenStatement> {
  const { kind, channel, covers = [], complete_until = null, max_lines } = values;
  const isMobileMoney = channel.type === 'Mobile Money';
  const read = await parseFile(service, given, { ...values, isMobileMoney }, max_lines);
  const name = given.name.slice(0, MAX_NAME_LENGTH);
  const source = name === FROM_GATEWAY ? `file ${name}` : name;
  return { ...read, source, covers: kind ? [kind] : covers, complete_until };
}

/** Stores a statement as a draft, with what its comparison would find. @returns its id */
async function keepDraft(
  { audited }: Deed<unknown>,
  statement: CheckedStatement,
  settling_window_ms: number,
): Promise<string> {
  return audited(async (trx) => {
    const kept = await keepStatement(trx, { ...statement, isDraft: true });
    if (statement.source !== FROM_GATEWAY) {
      await refuseOtherAccount(trx, kept.value, statement);
      await refuseOtherClock(trx, kept.value, statement);
      await refuseOtherDays(trx, kept.value, statement);
    }
    const { lines: _, source: _source, own = [], ...scope } = statement;
    const import_id = kept.value;
    const preview = await previewStatement(trx, { ...scope, import_id, settling_window_ms });
    await keepPreview(trx, kept.value, { ...preview, own_rows: own.length });
    return kept;
  });
}
