import { isOutage } from '../connections/database-errors.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { UsageError } from '../operations/field.ts';
import { BootError } from '../process/lifecycle.ts';
import { OutputError } from './output/print.ts';

export const FAILED = 1;
const WRONG_USAGE = 2;
const AFTER_CHANGE = 'Look whether it was done before you do it again';
const AFTER_READ = 'Nothing was changed. Try again; if it took too long, narrow the search';

/**
 * Returns the exit status for a failure, and the one line that tells it.
 * @param changes says whether the failed verb changes something.
 */
export function failureOf(error: unknown, changes = true): { status: number; line: string } {
  if (error instanceof UsageError) return { status: WRONG_USAGE, line: error.message };
  return { status: FAILED, line: lineOf(error as Error, changes) };
}

function lineOf(error: Error, changes: boolean): string {
  if (error instanceof OperatorRefusal || error instanceof OutputError) return error.message;
  // The message of a ConfigError has a line for each bad variable.
  if (error instanceof BootError || error.name === 'ConfigError') {
    return error.message.replace(/:\n\s*/, ': ').replace(/\n\s*/g, '; ');
  }
  const cause = withoutSql(error);
  if (isOutage(error)) {
    return `The database failed: ${cause}. ${changes ? AFTER_CHANGE : AFTER_READ}`;
  }
  return `Unexpected failure: ${cause}`;
}

const STATEMENT = /^\s*(select|insert|update|delete|with|begin|commit|savepoint|release)\b/i;
const BEFORE_CAUSE = ' - ';

/** Removes the statement with its values, which knex puts before the cause. */
function withoutSql({ message, name }: Error): string {
  const end = STATEMENT.test(message) ? message.lastIndexOf(BEFORE_CAUSE) : -1;
  const cause = end < 0 ? message : message.slice(end + BEFORE_CAUSE.length);
  return (cause || name).split('\n')[0]!.replace(/\b(\w+:\/\/)[^@\s/]+@/g, '$1***@');
}
