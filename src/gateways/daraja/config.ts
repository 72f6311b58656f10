import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { withFiles } from './config-files.ts';
import { configSchema } from './config-schema.ts';
import { fieldsOf } from './messages.ts';

/** The operator's accounts with Daraja. Amounts are cents. */
export type DarajaConfig = z.output<typeof configSchema>;
/** One shortcode. What is null was not configured. */
export type DarajaShortcode =
  DarajaConfig['shortcodes'] extends ReadonlyMap<string, infer Each> ? Each : never;

/**
 * Reads the operator's configuration: JSON, or the path of a file with it.
 * @throws Error whose message continues a sentence that begins with the setting's name. It names
 * every wrong field, and repeats no value.
 */
export function darajaConfigFromText(text: string): DarajaConfig {
  const problems: string[] = [];
  const json = jsonOf(text.trim().startsWith('{') ? text : readText(text.trim()));
  const { data, error } = configSchema.safeParse(inlined(json, problems));
  problems.push(...(error?.issues ?? []).flatMap(problemsOf));
  if (problems.length > 0) throw new Error(`is not valid: ${[...new Set(problems)].join('; ')}`);
  return data!;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message repeats a part of the text.
    throw new Error('holds no valid JSON');
  }
}

/** Puts the contents of files into the fields of all shortcodes. */
function inlined(json: unknown, problems: string[]): unknown {
  const { shortcodes, ...others } = fieldsOf(json);
  const entries = Object.entries(fieldsOf(shortcodes)).map(([code, fields]) => {
    const complain = (problem: string) => problems.push(`shortcodes.${code}.${problem}`);
    return [code, withFiles(fields, complain)];
  });
  return { ...others, shortcodes: Object.fromEntries(entries) };
}

function problemsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  const field = (name?: string) => [...path, ...(name === undefined ? [] : [name])].join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${field(key)} is not known`);
  }
  return [`${field()} ${issue.message}`.trim()];
}
