import { AsyncLocalStorage } from 'node:async_hooks';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { OperatorRefusal } from '../domain/errors.ts';

/** The contents of files by the paths that their owner gave. */
export type GivenFiles = ReadonlyMap<string, Buffer>;

const current = new AsyncLocalStorage<GivenFiles>();

/** Does something for somebody on another machine, whose paths mean these files and no others. */
export function withFiles<Result>(files: GivenFiles, work: () => Result): Result {
  return current.run(files, work);
}

/** A file that is sent with a command takes memory of the process that serves all members. */
const MAX_SENT_LINES = 100_000;

/** Returns the lines that a file may have: fewer where it is sent with the command. */
export function mostLines(lines: number): number {
  return current.getStore() ? Math.min(lines, MAX_SENT_LINES) : lines;
}

/** Opens the file at a path: that of the one who gives the order, on whatever machine. */
export function openGiven(path: string): Readable {
  const files = current.getStore();
  if (!files) return createReadStream(path);
  const content = files.get(path);
  if (!content) throw new OperatorRefusal(`${path} was not sent with the command`);
  return Readable.from([content]);
}
