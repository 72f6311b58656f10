import { readdirSync, readFileSync } from 'node:fs';
import { loadNouns } from '../src/admin/nouns.ts';
import type { Operation } from '../src/operations/operation.ts';
import { withGeneratedPart } from './generated-part.ts';

const SOURCES = new URL('../src/', import.meta.url);

/** Something that a member of staff can do, with the doors at which it can be done. */
export interface StaffDeed {
  operation: Operation;
  doors: ('console' | 'command line')[];
}

/** Returns the document with the table of deeds between its markers. @throws Error without markers */
export async function withDeedsTable(document: string): Promise<string> {
  const head = '| Deed | Who may | Second person | One-time password | Doors |';
  const table = [head, '|---|---|---|---|---|', ...(await listDeeds()).map(rowOf)];
  return withGeneratedPart(document, 'deeds', `${table.join('\n')}\n`);
}

const WHO_MAY = { admin: 'admin', support: 'support, admin', viewer: 'everybody' };

function rowOf({ operation, doors }: StaffDeed): string {
  const { name, role, twoPeople = 'no', otp = 'no' } = operation;
  const cells = [`\`${name.replace('.', ' ')}\``, WHO_MAY[role], twoPeople, otp, doors.join(', ')];
  return `| ${cells.join(' | ')} |`;
}

/**
 * Lists the operations by name. The command line has a verb for each that it offers. The console
 * offers what its pages name.
 */
export async function listDeeds(): Promise<StaffDeed[]> {
  const nouns = await loadNouns();
  const pages = textOf('console/pages/');
  const deeds = new Map<Operation, StaffDeed>();
  for (const file of readdirSync(new URL('operations/', SOURCES))) {
    const exported = await import(`../src/operations/${file}`);
    for (const [key, value] of Object.entries(exported)) {
      const isAtConsole = new RegExp(`\\b${key}\\b`).test(pages);
      for (const operation of operationsIn(value)) {
        const [noun, verb] = operation.name.split('.') as [string, string];
        const isVerb = nouns[noun]?.verbs[verb]?.changes === true;
        const before = deeds.get(operation)?.doors.includes('console');
        const doors: StaffDeed['doors'] = [];
        if (isAtConsole || before) doors.push('console');
        if (isVerb) doors.push('command line');
        deeds.set(operation, { operation, doors });
      }
    }
  }
  return [...deeds.values()].sort((a, b) => (a.operation.name < b.operation.name ? -1 : 1));
}

/** A file exports operations alone or in groups. */
function operationsIn(value: unknown): Operation[] {
  if (isOperation(value)) return [value];
  return typeof value === 'object' && value !== null
    ? Object.values(value).filter(isOperation)
    : [];
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'perform' in value && 'role' in value;
}

function textOf(folder: string): string {
  const url = new URL(folder, SOURCES);
  const files = readdirSync(url).map((file) => readFileSync(new URL(file, url), 'utf8'));
  return files.join('\n');
}
