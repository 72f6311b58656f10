import type { Writable } from 'node:stream';

/** The command is done, but nobody can read the answer, for example because a disk is full. */
export class OutputError extends Error {}

/**
 * Writes a text and waits until it is written. It is no failure if the reader has gone away.
 * @returns whether somebody still reads.
 * @throws OutputError
 */
export function print(stream: Writable, text: string): Promise<boolean> {
  // The callback gets the error too. Without a listener it would end the process.
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const { code } = (error ?? {}) as NodeJS.ErrnoException;
      if (!error || code === 'EPIPE') return resolve(!error);
      reject(new OutputError(`It is done, but the answer cannot be written: ${error.message}`));
    });
  });
}

/** Writes part by part, as long as somebody reads. @throws OutputError */
export async function printAll(stream: Writable, parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) {
    if (!(await print(stream, part))) return;
  }
}
