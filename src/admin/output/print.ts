import type { Writable } from 'node:stream';

/** The command is done, but nobody can read the answer: a disk is full, say. */
export class OutputError extends Error {}

/**
 * Writes a text and waits until it is out. A reader who has gone away is no failure.
 * @throws OutputError
 */
export function print(stream: Writable, text: string): Promise<void> {
  // The error reaches the callback, too. Without a listener it would end the process.
  stream.on('error', () => {});
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const { code } = (error ?? {}) as NodeJS.ErrnoException;
      if (!error || code === 'EPIPE') return resolve();
      reject(new OutputError(`It is done, but the answer cannot be written: ${error.message}`));
    });
  });
}
