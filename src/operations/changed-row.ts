import type { Transaction } from '../connections/database.ts';
import { auditedRow, isDifferent, type RowChange } from '../domain/audit/audit.ts';
import type { Deed, Result } from './operation.ts';

/** A change of a row, perhaps with the number of sessions that it has ended. */
type Change<Row> = RowChange<Row> & { revoked?: number };

/**
 * Changes a row, with its line in the audit log.
 * @param nameOf returns the name of the row for operators, such as `app 5001`
 * @param state is the one that the operation brings about
 */
export async function changeRow<Row extends object, Changed extends Change<Row>>(
  { audited }: Pick<Deed<unknown>, 'audited'>,
  nameOf: (row: Row) => string,
  work: (trx: Transaction) => Promise<Changed>,
  state?: string,
): Promise<{ change: Changed; result: Result }> {
  const change = await audited(async (trx) => {
    const made = await work(trx);
    return auditedRow(nameOf(made.row), made);
  });
  const { row, revoked } = change;
  const isDone = isDifferent(change);
  return {
    change,
    result: {
      title: `${capitalized(nameOf(row))} ${wordsOf(isDone, state)}`,
      row,
      more: { changed: isDone, ...(revoked !== undefined && { revoked_token_families: revoked }) },
      notes: [Boolean(revoked) && `Sessions ended: ${revoked}`],
      isDone,
    },
  };
}

/** Adds to a result. */
export function withMore(result: Result, { more, notes = [], ...others }: Partial<Result>): Result {
  return {
    ...result,
    ...others,
    more: { ...result.more, ...more },
    notes: [...(result.notes ?? []), ...notes],
  };
}

function wordsOf(isDone: boolean, state?: string): string {
  if (isDone) return state ? `is ${state} now` : 'changed';
  return `is ${state ?? 'like that'} ${ALREADY}`;
}

/** Ends a sentence about a change that was not needed. */
export const ALREADY = 'already: nothing was changed';

export function capitalized(words: string): string {
  return `${words[0]!.toUpperCase()}${words.slice(1)}`;
}
