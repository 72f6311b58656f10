import { readFileSync } from 'node:fs';

/** The fields that may be given as the path of a file, under their name with `_file`. */
const FILE_FIELDS = [
  'consumer_key',
  'consumer_secret',
  'passkey',
  'security_credential',
  'initiator_password',
  'certificate',
] as const;

/** Replaces each `FIELD_file` of a shortcode by `FIELD` with the file's trimmed text. */
export function withFiles(shortcode: unknown, complain: (problem: string) => void): unknown {
  if (typeof shortcode !== 'object' || shortcode === null) return shortcode;
  const fields: Record<string, unknown> = { ...shortcode };
  for (const name of FILE_FIELDS) {
    const path = fields[`${name}_file`];
    if (path === undefined) continue;
    delete fields[`${name}_file`];
    if (fields[name] !== undefined) complain(`${name} is given twice, also as ${name}_file`);
    else fields[name] = readSecret(path, (problem) => complain(`${name}_file ${problem}`));
  }
  return fields;
}

function readSecret(path: unknown, complain: (problem: string) => void): string | undefined {
  if (typeof path !== 'string') {
    complain('must be the path of a file');
    return undefined;
  }
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    complain(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
