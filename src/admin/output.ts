import type { Writable } from 'node:stream';

const GAP = '  ';

/** Rows as lines, their cells under each other. */
export function columns(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => row[index]!.length)),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join(GAP)
      .trimEnd(),
  );
}

/** One thing for people: a name and a value a line. */
export function fields(values: Record<string, string>): string[] {
  return columns(Object.entries(values).map(([name, value]) => [`  ${name}`, value]));
}

export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** A moment for people: in UTC, whole seconds. */
export function moment(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** What was asked for is done, but nobody can read the answer: a disk is full, say. */
export class OutputError extends Error {}

/**
 * Writes and waits until it is out. A reader who has gone away is no failure.
 * @throws OutputError
 */
export function print(stream: Writable, text: string): Promise<void> {
  // The error comes to the callback too; without a listener it would end the process.
  stream.on('error', () => {});
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const { code } = (error ?? {}) as NodeJS.ErrnoException;
      if (!error || code === 'EPIPE') return resolve();
      reject(new OutputError(`It is done, but the answer cannot be written: ${error.message}`));
    });
  });
}
