import { type Database, firstRow } from '../../connections/database.ts';
import { DAY_MS } from '../../time.ts';
import { OperatorRefusal } from '../errors.ts';
import { RETENTION } from '../upkeep/retention-rules.ts';
import { type Block, FIRST, readBlocks, type Seal, sealOf } from './seal.ts';
import { sealedDaysBehind } from './seal-days.ts';
import { lineOf, listSeals } from './seals-file.ts';

/** A difference between a seal and what there is now. */
export interface SealBreak extends Pick<Seal, 'table_name' | 'day'> {
  kind: 'seal_missing' | 'seal_changed' | 'rows_missing' | 'rows_added' | 'rows_changed';
  /** For people. */
  expected: string;
  found: string;
}

/**
 * Compares the seals with one another, with the rows of their days, and with the operator's file.
 * Without the file it cannot find that all seals from a day on were made anew.
 * @param given begins at the day `from`, YYYY-MM-DD; `file` is the text of the file
 */
export async function verifySeals(
  database: Database,
  given: { from?: string | undefined; file?: string | undefined } = {},
) {
  const { from = '', file } = given;
  const all = await listSeals(database);
  const wanted = all.filter(({ day }) => day >= from);
  const breaks: SealBreak[] = [];
  const checked = { seals: wanted.length, rows: 0, removed_by_retention: 0, not_in_file: 0 };
  for (const [index, seal] of all.entries()) {
    if (seal.day < from) continue;
    const before = all[index - 1];
    const { sealed, since } = await findBlocks(database, seal);
    checkSeal(seal, sealed, before?.table_name === seal.table_name ? before : undefined, breaks);
    const found = await readBlocks(database, seal);
    checked.rows += sealOf(seal, found).row_count;
    checked.removed_by_retention += compareBlocks(seal, sealed, found, since, breaks);
  }
  if (file !== undefined) {
    const filed = { text: file, sealsCount: all.length };
    checked.not_in_file = checkFile(wanted, filed, from, breaks);
  }
  const behind = await sealedDaysBehind(database);
  return { checked, days_behind: Math.max(...behind.map(({ days }) => days)), breaks };
}

/** Checks that a seal goes on from the day before, and that it is made of its own blocks. */
function checkSeal(seal: Seal, sealed: Block[], before: Seal | undefined, breaks: SealBreak[]) {
  const { table_name, day, hash_before, hash, row_count } = seal;
  const yesterday = new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, day.length);
  const isThere = before ? before.day === yesterday : hash_before === FIRST;
  const hash_found = isThere ? (before?.hash ?? FIRST) : 'none';
  if (hash_found !== hash_before) {
    const kind = isThere ? 'seal_changed' : 'seal_missing';
    const hashes = { expected: hash_before, found: hash_found };
    breaks.push({ kind, table_name, day: yesterday, ...hashes });
  }
  const made = sealOf(seal, sealed);
  if (made.hash === hash && made.row_count === row_count) return;
  const [expected, found] = [`${made.hash}, ${made.row_count} rows`, `${hash}, ${row_count} rows`];
  breaks.push({ kind: 'seal_changed', table_name, day, expected, found });
}

/** Returns the blocks of a seal, and the time before which retention may have deleted rows. */
async function findBlocks(database: Database, { table_name, day }: Seal) {
  const { keep } = RETENTION[table_name]!;
  const row = await firstRow<{ sealed: Block[]; since: Date | null }>(
    database,
    `SELECT blocks AS sealed, now() - CAST(:keep AS interval) AS since FROM seals
     WHERE table_name = :table_name AND day = CAST(:day AS date)`,
    { table_name, day, keep: keep === 'forever' || keep === 'state' ? null : keep },
  );
  return row!;
}

const NO_ROWS = { count: 0, hash: '', first_id: '', last_id: '' };

/** Names each minute whose rows differ. @returns the number of rows that retention has deleted */
function compareBlocks(
  { table_name, day }: Seal,
  sealed: Block[],
  present: Block[],
  since: Date | null,
  breaks: SealBreak[],
): number {
  let removed = 0;
  const [before, now] = [sealed, present].map((all) => new Map(all.map((b) => [b.minute, b])));
  for (const minute of [...new Set([...before!.keys(), ...now!.keys()])].sort()) {
    const [was, is] = [before!.get(minute) ?? NO_ROWS, now!.get(minute) ?? NO_ROWS];
    const lost = was.count - is.count;
    if (was.hash === is.hash) continue;
    if (lost > 0 && since && minute < since.toISOString()) removed += lost;
    else {
      const kind = lost > 0 ? 'rows_missing' : lost < 0 ? 'rows_added' : 'rows_changed';
      const [expected, found] = [textOf(minute, was), textOf(minute, is)];
      breaks.push({ kind, table_name, day, expected, found });
    }
  }
  return removed;
}

function textOf(minute: string, { count, first_id, last_id }: Omit<Block, 'minute'>): string {
  const rows = `${count} row${count === 1 ? '' : 's'} of ${minute}`;
  return count === 0 ? rows : `${rows}, ${first_id} to ${last_id}`;
}

/**
 * Compares both ways. A line that a stop has cut off does not count.
 * @returns the number of seals that are newer than the file
 */
function checkFile(
  wanted: Seal[],
  { text, sealsCount }: { text: string; sealsCount: number },
  from: string,
  breaks: SealBreak[],
): number {
  const filed = new Map(linesOf(text, sealsCount).map((seal) => [lineOf(seal), seal]));
  const newest = [...filed.values()].reduce(
    (latest, seal) => Math.max(latest, Date.parse(`${seal.sealed_at}`)),
    0,
  );
  let newer = 0;
  for (const seal of wanted) {
    const { table_name, day, sealed_at, hash } = seal;
    if (filed.delete(lineOf(seal))) continue;
    if (sealed_at.getTime() > newest) newer += 1;
    else {
      const expected = 'the same seal in the file';
      breaks.push({ kind: 'seal_changed', table_name, day, expected, found: hash });
    }
  }
  for (const { table_name, day, hash } of filed.values()) {
    if (day < from) continue;
    const expected = `${hash}, as in the file`;
    breaks.push({ kind: 'seal_missing', table_name, day, expected, found: 'none' });
  }
  return newer;
}

/** A seal needs less. */
const MAX_LINE_LENGTH = 1_000;
/** A file may have this many lines more than the database has seals: a restored database lacks some. */
const MAX_MORE_LINES = 20_000;

/** The columns of a line of the file. */
const COLUMNS: readonly (keyof Seal)[] = [
  ...(['day', 'table_name', 'row_count', 'hash', 'hash_before', 'sealed_at'] as const),
];

function isSeal(seal: Partial<Seal>): seal is Seal {
  const values = Object.entries(seal);
  return (
    values.length === COLUMNS.length &&
    values.every(
      ([name, value]) => COLUMNS.some((each) => each === name) && typeof value !== 'object',
    )
  );
}

/** @throws OperatorRefusal when the text has too many lines for a file of these seals */
function linesOf(text: string, sealsCount: number): Seal[] {
  const most = sealsCount + MAX_MORE_LINES;
  const lines = text.split('\n', most + 1);
  if (lines.length > most) {
    throw new OperatorRefusal(
      `The file has over ${most} lines: it is no file of seals of this database`,
    );
  }
  return lines.flatMap((line) => {
    try {
      if (line.length > MAX_LINE_LENGTH) return [];
      const seal = JSON.parse(line) as Partial<Seal>;
      // Other contents would take the memory of all lines at once.
      return isSeal(seal) ? [seal] : [];
    } catch {
      return [];
    }
  });
}
