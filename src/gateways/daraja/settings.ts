import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import {
  type Check,
  type DriverEnvironment,
  duration,
  parsed,
} from '../../process/setting-types.ts';
import { MINUTE_MS } from '../../time.ts';
import { configSchema } from './config-schema.ts';
import { fieldsOf } from './messages.ts';

export const DARAJA_SETTINGS = {
  DARAJA: parsed(darajaConfigFromText)
    .optional()
    .describe(
      'Accounts with Safaricom’s Daraja (M-PESA): a file, or the JSON text. docs/gateways.md has its form. Required when `CHANNELS` names the driver `daraja`',
    )
    .meta({ example: '/etc/malipo/daraja.json' }),
  DARAJA_SETTLING_WINDOW_MS: duration(0)
    .default(10 * MINUTE_MS)
    .describe('Time after a payout in which “does not exist” of Daraja proves nothing'),
  DARAJA_ANSWER_WINDOW_MS: duration(100, 10 * MINUTE_MS)
    .default(30_000)
    .describe('Time in which Daraja answers a question about a payout or reversal'),
};

type Environment = DriverEnvironment<typeof DARAJA_SETTINGS>;

/** The channel of M-PESA. */
const M_PESA = 63_902;

/** Returns the rules across variables. */
export function darajaRules({ given, values: { DARAJA }, channels }: Environment): Check[] {
  const isUsed = channels.length > 0;
  return [
    [
      channels.some((code) => code !== M_PESA),
      `CHANNELS must not give the driver daraja another channel than ${M_PESA}: it reaches phones of M-PESA only`,
    ],
    [isUsed && !given.DARAJA, 'DARAJA is required, because CHANNELS names the driver daraja'],
    [
      isUsed && DARAJA && !DARAJA.collections && !DARAJA.payouts,
      'DARAJA must name the shortcode of new collections or payouts, because CHANNELS names its driver',
    ],
  ];
}

/** Returns the rules for production. */
export function darajaProductionRules({ values: { DARAJA } }: Environment): Check[] {
  const isPlain = DARAJA && !DARAJA.baseUrl.startsWith('https:');
  return [[isPlain, 'DARAJA must have an https base_url in production']];
}

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
function withFiles(shortcode: unknown, complain: (problem: string) => void): unknown {
  if (typeof shortcode !== 'object' || shortcode === null) return shortcode;
  const fields: Record<string, unknown> = { ...shortcode };
  for (const name of FILE_FIELDS) {
    const path = fields[`${name}_file`];
    if (path === undefined) continue;
    delete fields[`${name}_file`];
    if (fields[name] !== undefined) complain(`${name} is given twice, also as ${name}_file`);
    else fields[name] = secretIn(path, (problem) => complain(`${name}_file ${problem}`));
  }
  return fields;
}

function secretIn(path: unknown, complain: (problem: string) => void): string | undefined {
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
