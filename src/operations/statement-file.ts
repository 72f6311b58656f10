import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { databaseNow } from '../connections/database.ts';
import type { StatementLine } from '../domain/reconciliation/statement.ts';
import {
  StatementFileError,
  type StatementFormat,
} from '../domain/reconciliation/statement-cells.ts';
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
import type { Service } from '../service/service.ts';
import { MINUTE_MS } from '../time.ts';
import { optional, UsageError, type ValuesOf, withDefault } from './field.ts';
import { mostLines, openGiven } from './given-files.ts';
import * as read from './readers.ts';

export const MAX_NAME_LENGTH = 100;
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

/** Returns the forms that a file may have: the operator's, and the built-in ones. */
export function profilesOf({ config }: Pick<Service, 'config'>, named?: string) {
  const all = [...(config.statementProfiles ?? []), ...BUILT_IN];
  const profiles = named === undefined ? all : all.filter(({ name }) => name === named);
  if (profiles.length > 0) return profiles;
  const names = all.map(({ name }) => name).join(', ');
  throw new UsageError(`There is no profile ${named} (profile): it is one of ${names}`);
}

type FileForm = ValuesOf<typeof FILE_FORM> &
  Pick<StatementFormat, 'isMobileMoney' | 'isOwn'> &
  Partial<Pick<StatementFormat, 'kind'>>;

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
