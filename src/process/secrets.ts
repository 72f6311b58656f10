import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';

/** A value of the environment: its text, or the line that says what is wrong. */
interface Given {
  text?: string | undefined;
  problem?: string;
}

/**
 * Returns the text of a secret, from the variable NAME, or from the file whose path is in
 * NAME_FILE. An empty variable counts as an absent one, as in a .env file.
 */
export function readSecret(name: string, environment: NodeJS.ProcessEnv): Given {
  const text = environment[name] || undefined;
  const fileName = `${name}_FILE`;
  const path = environment[fileName];
  if (!path) return { text };
  if (text) return { problem: `${fileName} and ${name} must not both be set` };
  try {
    // Editors and `echo` end a file with a line feed.
    const content = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
    return content === '' ? { problem: `${fileName} names an empty file` } : { text: content };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${fileName} names a file that cannot be read (${code})` };
  }
}

/** The rights of a file by which others than its owner read or change it. */
const RIGHTS_OF_OTHERS = 0o066;

/**
 * Reads a secret of one person, as `readSecret` does. Refuses a file that other accounts of the
 * machine may read or change.
 */
export function readOwnSecret(name: string, environment: NodeJS.ProcessEnv): Given {
  const given = readSecret(name, environment);
  const path = environment[`${name}_FILE`];
  if (!path || given.problem) return given;
  if ((statSync(path).mode & RIGHTS_OF_OTHERS) === 0) return given;
  return { problem: `${name}_FILE names a file that others may read or change: chmod 600 ${path}` };
}

/** Tells whether a setting is a secret, which `NAME_FILE` may give as the path of a file. */
export function isSecret(setting: z.ZodType): boolean {
  return setting.meta()?.secret === true;
}

/** Returns the text of a setting. An empty variable counts as an absent one, as in a .env file. */
export function givenText(name: string, setting: z.ZodType, environment: NodeJS.ProcessEnv): Given {
  return isSecret(setting)
    ? readSecret(name, environment)
    : { text: environment[name] || undefined };
}
