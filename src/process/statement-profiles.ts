import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  BUILT_IN,
  COLUMN_NAMES,
  ROW_KINDS,
  type StatementProfile,
} from '../domain/reconciliation/statement-profile.ts';

const pattern = z.string().transform((text, context) => {
  try {
    return new RegExp(text, 'i');
  } catch {
    context.issues.push({ code: 'custom', message: 'is no regular expression', input: text });
    return z.NEVER;
  }
});

const FILE = z.array(
  z
    .strictObject({
      name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'has lower-case letters, digits and hyphens'),
      columns: z.partialRecord(z.enum(COLUMN_NAMES), z.string().min(1)),
      utcOffset: z
        .string()
        .regex(/^[+-]\d\d:\d\d$/, 'must be like +03:00')
        .optional(),
      rows: z.array(z.strictObject({ words: pattern, kind: z.enum(ROW_KINDS) })).optional(),
      reference: pattern.optional(),
    })
    .refine(
      ({ columns }) => columns.completed_at && (columns.amount || columns.paid_in),
      'columns must name completed_at, and amount or paid_in',
    )
    .refine(
      ({ columns }) => Boolean(columns.paid_in) === Boolean(columns.withdrawn),
      'columns must name both paid_in and withdrawn, or none of them',
    ),
);

/**
 * Reads the operator's profiles from a JSON file. They come before the built-in ones.
 * @throws Error whose message continues a sentence that begins with the setting's name
 */
export function profilesFromFile(path: string): readonly StatementProfile[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`names a file that cannot be read (${code})`);
  }
  const profiles = readProfiles(text);
  const names = [...profiles, ...BUILT_IN].map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`names a file with two profiles ${twice} (one may be built in)`);
  return profiles;
}

function readProfiles(text: string): StatementProfile[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('names a file that is no JSON');
  }
  const { data, error } = FILE.safeParse(json);
  if (data) return data;
  const { path, message } = error.issues[0]!;
  throw new Error(`names a file that is wrong at ${path.join('.') || 'its top'}: ${message}`);
}
