import { AsyncLocalStorage } from 'node:async_hooks';
import type { Writable } from 'node:stream';
import { DEFAULT_ZONE, type Zone } from '../../domain/period.ts';

/** How a command shows its answer to people. */
export interface Display {
  zone: Zone;
  /** The characters of a line that tables fit into. Null: they are as wide as their cells. */
  columns: number | null;
}

/** Standard output. A terminal knows its width. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** For a terminal that does not say how wide it is. */
const DEFAULT_COLUMNS = 120;

const current = new AsyncLocalStorage<Display>();

/** Runs `work`, whose answer is shown in this way. */
export function showAs<Result>(display: Display, work: () => Result): Result {
  return current.run(display, work);
}

/** Returns how the running command shows its answer. */
export function display(): Display {
  return current.getStore() ?? { zone: DEFAULT_ZONE, columns: null };
}

/** Returns the width for tables: COLUMNS, or else the terminal's width. Null for a file or a pipe. */
export function columnsOf(output: Output, { COLUMNS = '' }: NodeJS.ProcessEnv): number | null {
  if (/^[1-9]\d{0,5}$/.test(COLUMNS)) return Number(COLUMNS);
  return output.isTTY ? output.columns || DEFAULT_COLUMNS : null;
}
