import type { Readable } from 'node:stream';
import { passwordProblem } from '../../domain/credentials/password-problem.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../domain/credentials/passwords.ts';
import { isPlainText } from '../../domain/text.ts';
import { UsageError } from '../../operations/field.ts';

const MAX_INPUT_BYTES = 4_096;

export type Input = Readable & { isTTY?: boolean };

/**
 * Reads a password from a pipe, up to its end, without the last line break.
 * @throws UsageError for a password that is not allowed. The message never repeats it.
 */
export async function readPassword(input: Input): Promise<string> {
  if (input.isTTY) {
    throw new UsageError('--password-stdin reads a pipe: a terminal would show the password');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_INPUT_BYTES) break;
  }
  const password = textOf(Buffer.concat(chunks)).replace(/\r?\n$/, '');
  if (password === '') throw new UsageError('--password-stdin found nothing on standard input');
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw new UsageError(
      `The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
    );
  }
  const problem = passwordProblem(password, []);
  if (problem) throw new UsageError(`The password ${problem}`);
  // The API takes no other text at log-in.
  if (!isPlainText(password)) throw new UsageError('The password must be a single line of text');
  return password;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('The password must be UTF-8 text');
  }
}
