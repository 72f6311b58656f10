import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** Returns the code of a document that follows the comment `<!-- sample: NAME -->`, by its name. */
export function samplesOf(document: string): Record<string, string> {
  const text = readFileSync(new URL(`../../${document}`, import.meta.url), 'utf8');
  const samples = text.matchAll(/<!-- sample: (\w+) -->\n```\w+\n(.*?)```\n/gs);
  return Object.fromEntries([...samples].map(([, name, code]) => [name, code!]));
}

const TIMEOUT_MS = 400_000;

/**
 * Runs a program and returns what it writes.
 * @throws Error when it does not end with status 0.
 */
export async function output(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    ...options,
    env: { ...process.env, ...options.env },
    timeout: TIMEOUT_MS,
  });
  return stdout;
}
