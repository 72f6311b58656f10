import { readFileSync } from 'node:fs';
import { rows } from '../../src/connections/database.ts';
import { say } from './report.ts';
import type { Stage } from './stage.ts';

/**
 * Fills the tables by a file of SQL statements, in which `:name` stands for a number.
 * @returns the row of its last statement
 */
export async function fillBySql(
  { connect }: Stage,
  file: URL,
  numbers: Readonly<Record<string, number>>,
): Promise<Record<string, string>> {
  const filledIn = readFileSync(file, 'utf8')
    .replace(/^--.*\n/gm, '')
    .replace(/(?<!:):(\w+)/g, (match, name) => `${numbers[name] ?? match}`);
  // One connection, because the first part holds for its session.
  const database = connect(1, true);
  let found: Record<string, string>[] = [];
  for (const statement of filledIn.trimEnd().split(/;\n/)) {
    say(
      `seed: ${statement
        .replace(/^--.*\n/gm, '')
        .trim()
        .split('\n', 1)}`,
    );
    found = await rows(database, statement);
  }
  return found[0]!;
}
