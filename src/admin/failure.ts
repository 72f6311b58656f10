import { isOutage } from '../connections/database-errors.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { BootError } from '../process/lifecycle.ts';
import { UsageError } from './options/option.ts';
import { OutputError } from './output/print.ts';

export const FAILED = 1;
const WRONG_USAGE = 2;

/** Returns the exit status of a failure, and the one line that reports it. */
export function failureOf(error: unknown): { status: number; line: string } {
  if (error instanceof UsageError) return { status: WRONG_USAGE, line: error.message };
  return { status: FAILED, line: lineOf(error as Error) };
}

function lineOf(error: Error): string {
  if (error instanceof OperatorRefusal || error instanceof OutputError) return error.message;
  // A configuration has a line for each bad variable.
  if (error instanceof BootError || error.name === 'ConfigError') {
    return error.message.replace(/:\n\s*/, ': ').replace(/\n\s*/g, '; ');
  }
  const cause = withoutSql(error);
  if (isOutage(error)) {
    return `The database failed: ${cause}. If it was to change something, look whether that was done before you do it again`;
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
