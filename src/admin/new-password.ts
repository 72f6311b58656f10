import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { UsageError } from './command.ts';

const GENERATED_BYTES = 15;
const MIN_LENGTH = 12;
const MAX_LENGTH = 128;
const MAX_INPUT_BYTES = 4_096;

export interface NewPassword {
  text: string;
  /** What the answer says of it: nothing of one that came from the operator. */
  shown: { password?: string };
}

/**
 * A generated password, or the one on standard input.
 * @throws UsageError when it is none that may be used; the message never repeats it.
 */
export async function newPassword(
  fromInput: boolean,
  input: Readable & { isTTY?: boolean } = process.stdin,
): Promise<NewPassword> {
  if (fromInput) return { text: await readPassword(input), shown: {} };
  const text = randomBytes(GENERATED_BYTES).toString('base64url');
  return { text, shown: { password: text } };
}

/** Everything up to the end of a pipe, without the last line break. */
async function readPassword(input: Readable & { isTTY?: boolean }): Promise<string> {
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
  if (password.length < MIN_LENGTH || password.length > MAX_LENGTH) {
    throw new UsageError(`The password must have ${MIN_LENGTH} to ${MAX_LENGTH} characters`);
  }
  if (/\p{Cc}/u.test(password)) throw new UsageError('The password must be a single line of text');
  return password;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('The password must be UTF-8 text');
  }
}
