import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';

/*
 * A file waits as a draft until somebody compares it. It cannot be compared after an hour.
 */

/** SQL: the draft `i` is deleted. Its last hour is over by far. */
const IS_OLD = "i.started_at IS NULL AND i.imported_at < now() - interval '1 day'";

/** One member's files of a day would fill the disk with more lines than these. */
const MAX_LINES_PER_DAY = 500_000;

/**
 * Deletes old drafts, and sees to it that one member does not fill the disk with new ones.
 * @param brought_by is the e-mail address of the member; null where the service has no staff yet
 * @throws OperatorRefusal
 */
export async function makeRoomForDraft(
  trx: Transaction,
  brought_by: string | null,
  lines: number,
): Promise<void> {
  await rows(
    trx,
    `DELETE FROM statement_lines l USING statement_imports i WHERE i.id = l.import_id AND ${IS_OLD}`,
  );
  await rows(trx, `DELETE FROM statement_imports i WHERE ${IS_OLD}`);
  if (brought_by === null) return;
  const found = await firstRow<{ count: number }>(
    trx,
    `SELECT count(*) AS count FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.brought_by = :brought_by AND (i.started_at IS NULL
       OR i.agreed_by IS NULL AND i.imported_at > now() - interval '1 day')`,
    { brought_by },
  );
  if (found!.count + lines <= MAX_LINES_PER_DAY) return;
  throw new OperatorRefusal(
    `Your files to which nobody else has agreed have over ${MAX_LINES_PER_DAY} lines: ask a colleague to compare them, or come back tomorrow`,
  );
}
