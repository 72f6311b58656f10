import { readFileSync } from 'node:fs';
import { armor, Decrypter } from 'age-encryption';
import type { z } from 'zod';
import { BootError } from './lifecycle.ts';
import { isSecret, readSecret } from './secrets.ts';

/*
 * A file with a secret may be encrypted by age (age-encryption.org). The identity that opens it is
 * elsewhere, such as on a RAM disk where two people have put it, so that neither a backup nor a
 * thief of the disk has the secret.
 */

const IDENTITY = 'AGE_IDENTITY';
const HEADER = 'age-encryption.org/v1\n';
const ARMORED_HEADER = '-----BEGIN AGE ENCRYPTED FILE-----';

/**
 * Opens the files of secrets that are encrypted by age.
 * @returns the environment with what was in them, in place of their paths
 * @throws BootError when the identity is missing or opens one of them not
 */
export async function openAgeFiles(
  environment: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, z.ZodType>>,
): Promise<NodeJS.ProcessEnv> {
  const opened = { ...environment };
  for (const [name, setting] of Object.entries(settings)) {
    if (name === IDENTITY || !isSecret(setting)) continue;
    const fileName = `${name}_FILE`;
    const encrypted = environment[name] ? null : ageFileAt(environment[fileName]);
    if (!encrypted) continue;
    opened[name] = await decrypt(encrypted, fileName, environment);
    delete opened[fileName];
  }
  return opened;
}

/** Returns what age reads; null for another file, and for one that cannot be read: its reader says why. */
function ageFileAt(path: string | undefined): Uint8Array | null {
  if (!path) return null;
  try {
    const content = readFileSync(path);
    const text = content.toString('latin1');
    if (text.trimStart().startsWith(ARMORED_HEADER)) return armor.decode(text.trim());
    return text.startsWith(HEADER) ? content : null;
  } catch {
    return null;
  }
}

async function decrypt(
  encrypted: Uint8Array,
  fileName: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const { text, problem } = readSecret(IDENTITY, environment);
  if (problem) throw new BootError(problem);
  if (!text) {
    throw new BootError(
      `${fileName} names a file that age has encrypted: set ${IDENTITY}_FILE to the identity that opens it`,
    );
  }
  try {
    const decrypter = new Decrypter();
    for (const identity of identitiesIn(text)) decrypter.addIdentity(identity);
    return (await decrypter.decrypt(encrypted, 'text')).replace(/[\r\n]+$/, '');
  } catch (error) {
    throw new BootError(
      `${fileName} names a file that ${IDENTITY} does not open: ${(error as Error).message}`,
    );
  }
}

/** The lines of an identity file, without its comments. */
function identitiesIn(text: string): string[] {
  return text
    .split(/\s*\n\s*/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
