import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { databaseNow, type Transaction } from '../connections/database.ts';
import { leaseHolder } from '../connections/locks.ts';
import { auditedFor } from '../domain/audit/audit.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { kes } from '../domain/money.ts';
import {
  beginComparison,
  DRAFT_MINUTES,
  findImport,
  firstLines,
  type StatementImport,
} from '../domain/reconciliation/import-store.ts';
import { keepPreview, previewStatement } from '../domain/reconciliation/preview-statement.ts';
import {
  type CheckedStatement,
  type Comparison,
  compareImport,
  keepStatement,
} from '../domain/reconciliation/reconcile-statement.ts';
import { refuseOtherAccount, refuseOtherClock } from '../domain/reconciliation/refuse-file.ts';
import {
  FROM_GATEWAY,
  LINE_KINDS,
  momentsOf,
  type StatementLine,
} from '../domain/reconciliation/statement.ts';
import {
  MAX_LINES,
  type ReadStatement,
  readStatement,
} from '../domain/reconciliation/statement-file.ts';
import {
  BUILT_IN,
  COLUMN_NAMES,
  type ColumnName,
} from '../domain/reconciliation/statement-profile.ts';
import {
  StatementFileError,
  type StatementFormat,
} from '../domain/reconciliation/statement-row.ts';
import { refuseNewOtp, requireStillMay } from '../domain/staff/approvals.ts';
import { requireTwoPeople } from '../domain/staff/given-access.ts';
import {
  askForStatement,
  comparisonWith,
  type GivenStatement,
  gatewayOf,
} from '../service/reconciliation.ts';
import type { Service } from '../service/service.ts';
import { MINUTE_MS } from '../time.ts';
import { optional, required, UsageError, type ValuesOf, withDefault } from './field.ts';
import { mostLines, openGiven } from './given-files.ts';
import { type Deed, define, type Look, type Noun } from './operation.ts';
import * as read from './readers.ts';

const MAX_NAME_LENGTH = 100;
const MAX_PATH_LENGTH = 1_000;
export const path = read.text('PATH', MAX_PATH_LENGTH);

/** The statement's own names of its columns: `reference=Our ref,trans_id=Receipt`. */
const columnMap = read.reader<StatementFormat['columns']>(
  'NAME=COLUMN,…',
  `a list of NAME=COLUMN with names out of ${COLUMN_NAMES.join(', ')}`,
  (raw) => {
    const pairs = raw.split(',').map((pair) => /^(\w+)=(.+)$/.exec(pair.trim())?.slice(1) ?? ['']);
    const isRight = pairs.every(([name]) => COLUMN_NAMES.includes(name as ColumnName));
    return isRight ? Object.fromEntries(pairs) : undefined;
  },
);

/** A file that somebody brings. */
export interface GivenFile {
  /** Names it in messages. */
  label: string;
  name: string;
  open(): Readable;
}

export const file = {
  placeholder: 'PATH',
  read: (text: string, zone: Parameters<typeof path.read>[1]): GivenFile => {
    const label = path.read(text, zone);
    return { label, name: basename(label), open: () => openGiven(label) };
  },
};

/** The options that say how to read a file, of any account. */
export const FILE_FORM = {
  columns: withDefault('columns', columnMap, "The file's names of columns, where not ours", {}),
  profile: optional(
    'profile',
    read.text('NAME', MAX_NAME_LENGTH),
    'The form of the file: m-pesa-portal, bank, own or one of yours. Default: its header tells',
    { label: 'Form of the file' },
  ),
  utc_offset: optional(
    'utc-offset',
    read.utcOffset,
    "Of the file's times; required unless the profile has it",
    { label: 'Offset of its times' },
  ),
};

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

/** Returns the forms that a file may have: the operator's, and the built-in ones. */
export function profilesOf({ config }: Pick<Service, 'config'>, named?: string) {
  const all = [...(config.statementProfiles ?? []), ...BUILT_IN];
  const profiles = named === undefined ? all : all.filter(({ name }) => name === named);
  if (profiles.length > 0) return profiles;
  const names = all.map(({ name }) => name).join(', ');
  throw new UsageError(`There is no profile ${named} (profile): it is one of ${names}`);
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

type FileForm = Pick<Values, 'columns' | 'profile' | 'utc_offset'> &
  Pick<StatementFormat, 'isMobileMoney' | 'isOwn'> & { kind?: Values['kind'] };

/** Reads a file in one of the forms that it may have. @throws UsageError for what is wrong in it */
export async function parseFile(
  service: Pick<Service, 'config' | 'database'>,
  given: GivenFile,
  { columns, profile, utc_offset: utcOffset, kind, isMobileMoney, isOwn = false }: FileForm,
  max_lines = MAX_LINES,
): Promise<ReadStatement> {
  const profiles = profilesOf(service, profile);
  const format = { columns, profiles, kind, utcOffset, isMobileMoney, isOwn };
  const most = mostLines(max_lines);
  const read = await readStatement(given.open(), format, most).catch((error: Error) => {
    if (!(error instanceof StatementFileError)) throw error;
    throw new UsageError(`${given.label} ${error.message}`);
  });
  await refuseFuture(service, given, read);
  return read;
}

/**
 * Refuses a mistyped year, or a wrong offset: all statements would then seem older than this row, and tell no balance,
 * or the file would seem to have all movements until now.
 */
async function refuseFuture(
  { database }: Pick<Service, 'database'>,
  { label }: GivenFile,
  { own, lines }: ReadStatement,
): Promise<void> {
  const now = await databaseNow(database);
  const soon = new Date(now.getTime() + CLOCKS_APART_MS);
  const late =
    own.find(({ toldAt }) => toldAt > now) ?? lines.map(asRow).find(({ toldAt }) => toldAt > soon);
  if (!late) return;
  const { reference, toldAt } = late;
  throw new UsageError(
    `${label} has the row ${reference} with a time that is still to come (${toldAt.toISOString()}): correct the file, or its offset (utc-offset)`,
  );
}

/** The clock of a gateway may go before ours by this. */
const CLOCKS_APART_MS = 5 * MINUTE_MS;

function asRow({ transId, reference, completedAt }: StatementLine) {
  return { reference: transId ?? reference, toldAt: completedAt };
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
    }
    const { lines: _, source: _source, own = [], ...scope } = statement;
    const import_id = kept.value;
    const preview = await previewStatement(trx, { ...scope, import_id, settling_window_ms });
    await keepPreview(trx, kept.value, { ...preview, own_rows: own.length });
    return kept;
  });
}

const STATEMENT: Noun<StatementImport> = {
  fields: { id: required('statement', read.uuid, 'The id of the stored statement') },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findImport(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no statement ${id}`);
  },
};

/** A stored statement, with what its comparison has found. */
export interface Compared {
  statement: StatementImport;
  result: Comparison;
}

/**
 * Compares a stored statement with the books. A service with `comparisons` does not wait for the end:
 * the gateway may be asked about many payments. If the process stops, it may be begun again.
 */
export const compareStatement = define<StatementImport, Record<never, never>>({
  name: 'reconcile.run',
  role: 'support',
  title: 'Compare and settle',
  summary: 'Compares a stored statement with the books, and settles what it shows',
  twoPeople:
    'for a file that says more than is known: another member than the one who has brought it',
  about: STATEMENT,
  fields: {},
  otp: 'fresh',
  needsOtp: isAgreement,
  preview: (look) => {
    requireOther(look);
    return [
      'The comparison settles what the statement shows, and its differences become discrepancies.',
    ];
  },
  perform: async (deed) => {
    requireOther(deed);
    const { service, subject: statement } = deed;
    const { id } = statement;
    const compare = await begin(deed);
    const title = 'The comparison has begun';
    if (!service.comparisons) {
      const row: Compared = { statement, result: await compare() };
      return { title: `Statement ${id} is compared`, row };
    }
    service.comparisons.start(id, compare);
    return { title, more: { import_id: id } };
  },
});

/**
 * Says why a member may not begin the comparison of a statement; null when the member may. A file
 * could say anything. So its uploader compares it alone only if it repeats what is known.
 */
export function whyNotAlone(
  { member }: Pick<Look<unknown>, 'member'>,
  { brought_by, preview, complete_until }: StatementImport,
): string | null {
  const { stake_cents: stake, empty_kinds } = preview ?? { stake_cents: 0, empty_kinds: [] };
  if (!member || brought_by !== member.email) return null;
  if (claimsEmpty({ preview, complete_until })) {
    return `It claims to have every ${empty_kinds.join(' and ')}, and has none. You have brought the file: somebody else must compare it`;
  }
  if (stake === 0) return null;
  return `It is about ${kes(stake)}, and you have brought the file: somebody else must compare it`;
}

/**
 * Tells whether a member agrees to a file by comparing it, as to a request: another member has brought it, and it
 * says more than is known.
 */
export function isAgreement({
  member,
  subject,
}: Pick<Look<StatementImport>, 'member' | 'subject'>): boolean {
  const { brought_by, preview } = subject;
  const isOfOther = member !== null && brought_by !== null && brought_by !== member.email;
  const saysMore = (preview?.stake_cents ?? 0) > 0 || claimsEmpty(subject);
  return isOfOther && saysMore;
}

/** Tells whether a file says that it has every line of a kind, and has none. */
function claimsEmpty({
  preview,
  complete_until,
}: Pick<StatementImport, 'preview' | 'complete_until'>): boolean {
  return complete_until !== null && (preview?.empty_kinds.length ?? 0) > 0;
}

function requireOther(look: Look<StatementImport>): void {
  const problem = whyNotAlone(look, look.subject);
  if (problem !== null) throw new OperatorRefusal(problem);
}

/**
 * Measures the stake of a file once more, in the transaction that begins: the books have gone on.
 * @returns the most money that the comparison may end, in cents; null for the gateway's own word
 */
async function measureStake(
  trx: Transaction,
  look: Look<StatementImport>,
  { settlingWindowMs: settling_window_ms }: ReturnType<typeof gatewayOf>,
): Promise<number | null> {
  const { subject } = look;
  if (subject.brought_by === null) return null;
  const preview = await previewStatement(trx, { ...scopeOf(subject), settling_window_ms });
  requireOther({ ...look, subject: { ...subject, preview } });
  const saysMore = preview.stake_cents > 0 || claimsEmpty({ ...subject, preview });
  if (look.member && saysMore) {
    await refuseNewOtp(trx, look.member.email, look.service.config.newAccessHoldMs);
    await requireTwoPeople(trx, subject.brought_by, look.member.email);
    await requireStillMay(trx, subject.brought_by, 'support');
  }
  const [now, shown] = [preview.stake_cents, subject.preview?.stake_cents ?? 0];
  if (now <= shown) return now - preview.missing_cents - preview.own_cents;
  throw new OperatorRefusal(
    `It is about ${kes(now)} by now, and was about ${kes(shown)} when it was stored: check it anew`,
  );
}

function scopeOf(statement: StatementImport) {
  const { id: import_id, gateway, channel, covers, complete_until } = statement;
  const period = { from: statement.period_from, to: statement.period_to };
  return { import_id, gateway, channel, period, covers, complete_until };
}

const HAS_LAPSED = `It was stored over ${DRAFT_MINUTES} minutes ago, and the books went on: check it anew`;

/** Begins the comparison. @returns the function that makes it, also after its member has logged out */
async function begin(deed: Deed<StatementImport>) {
  const { service, audited, subject, actor, reason } = deed;
  const { id, channel, gateway: name } = subject;
  const gateway = service.gateways.get(name);
  if (!gateway) throw new OperatorRefusal(`There is no gateway ${name} any more`);
  const holder = leaseHolder();
  if (subject.has_lapsed) throw new OperatorRefusal(HAS_LAPSED);
  const agreed_cents = await audited(async (trx) => {
    const value = await measureStake(trx, deed, gateway);
    if (!(await beginComparison(trx, id, holder))) {
      throw new OperatorRefusal('Its comparison is under way, or has ended');
    }
    const details = { import_id: id, begun: true };
    return { value, audit: { merchant_id: null, subject: `channel ${channel}`, details } };
  });
  const statement = { ...scopeOf(subject), agreed_cents };
  const operator = { actor, action: 'reconcile.run', reason };
  return (stopping?: AbortSignal) =>
    compareImport(
      service.database,
      auditedFor(service.database, operator),
      statement,
      { ...comparisonWith(service, gateway), ...(stopping && { stopping }) },
      holder,
    );
}
