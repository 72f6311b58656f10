import { expect } from 'chai';
import type { Answer } from '../../src/admin/command.ts';
import { readCommandLine } from '../../src/admin/command-line.ts';
import { failureOf } from '../../src/admin/failure.ts';
import { execute } from '../../src/admin/main.ts';
import { type Database, firstRow, rows } from '../../src/connections/database.ts';
import type { Service } from '../../src/process/boot.ts';
import { type AdminOptions, type AdminRun, runAdmin } from './admin-runs.ts';
import { createTestDatabase } from './database.ts';

export interface AuditRow {
  actor: string;
  action: string;
  merchant_id: number | null;
  subject: string;
  reason: string;
  details: Record<string, unknown>;
}

export type Document = Record<string, unknown>;

/** A command line whose arguments are between spaces; a list where one contains some. */
export type CommandLine = string | string[];

/** Arguments, and what the one line on standard error must contain or match. */
export type BadCase = [command: CommandLine, line: string | RegExp];

export const ACTOR = 'tester';
export const REASON = 'because';

/** The operator's command line over a database of its own. */
export interface AdminTester {
  database: Database;
  url: string;
  run(command: CommandLine, options?: AdminOptions): Promise<AdminRun>;
  /** Runs what must succeed. @returns its lines. */
  text(command: CommandLine, options?: AdminOptions): Promise<string>;
  /** Likewise with --json. @returns the one document that it printed. */
  json(command: CommandLine, options?: AdminOptions): Promise<Document>;
  /** `text` and `json` of what changes something: the reason is added. */
  change(command: CommandLine, options?: AdminOptions): Promise<string>;
  changeJson(command: CommandLine, options?: AdminOptions): Promise<Document>;
  /** Runs what must be refused with status 1 and one line each, and must change nothing. */
  refused(cases: BadCase[], options?: AdminOptions): Promise<void>;
  /** The audit log, oldest first. */
  audits(): Promise<AuditRow[]>;
  /** The newest line of the audit log, which must be by the tester and for the reason. */
  lastAudit(): Promise<Pick<AuditRow, 'action' | 'merchant_id' | 'subject' | 'details'>>;
  /** Fails if `work` changes anything at all. */
  unchanged<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export async function createAdminTester(): Promise<AdminTester> {
  const { database, url, drop } = await createTestDatabase();
  const run = (command: CommandLine, options: AdminOptions = {}) =>
    runAdmin(argumentsOf(command), {
      ...options,
      env: { MALIPO_ACTOR: ACTOR, DATABASE_URL: url, ...options.env },
    });
  const textOf = async (command: CommandLine, options?: AdminOptions) => {
    const { status, stdout, stderr } = await run(command, options);
    expect([status, stderr], String(command)).to.deep.equal([0, '']);
    return stdout;
  };
  const json = async (command: CommandLine, options?: AdminOptions) => {
    const stdout = await textOf([...argumentsOf(command), '--json'], options);
    expect(stdout, 'a document').to.match(/^\{.*\}\n$/);
    return JSON.parse(stdout) as Document;
  };
  const unchanged = async <Result>(work: () => Promise<Result>) => {
    const before = await snapshot(database);
    const result = await work();
    expect(await snapshot(database), 'what is stored').to.deep.equal(before);
    return result;
  };
  return {
    database,
    url,
    run,
    text: textOf,
    json,
    change: (command, options) => textOf(withReason(command), options),
    changeJson: (command, options) => json(withReason(command), options),
    refused: (cases, options) =>
      unchanged(async () => {
        await Promise.all(cases.map((refusal) => expectRefused(run, refusal, options)));
      }),
    audits: () => auditsIn(database),
    lastAudit: async () => {
      const { actor, reason, ...rest } = (await auditsIn(database)).at(-1)!;
      expect({ actor, reason }).to.deep.equal({ actor: ACTOR, reason: REASON });
      return rest;
    },
    unchanged,
    close: drop,
  };
}

/** Does what a command line says in this process, since starting a program takes its time. */
export async function runHere(service: Service, command: CommandLine): Promise<Answer> {
  const request = readCommandLine(withReason(command), { MALIPO_ACTOR: ACTOR });
  if (request.help) throw new Error('That would only show help');
  return execute(service, request);
}

/**
 * Fails unless each of these command lines is wrong by itself: status 2, with one line.
 * Read in this process, since starting a program for each of so many would take minutes;
 * nothing that is read here can have asked a database.
 */
export function expectWrong(cases: BadCase[], actor = ACTOR): void {
  for (const [command, line] of cases) {
    const problem = problemWith(withReason(command), actor);
    expect(problem.status, `${command}: ${problem.line}`).to.equal(2);
    expectLine(`${problem.line}\n`, line, command);
  }
}

function problemWith(args: string[], actor: string): { status: number; line: string } {
  try {
    readCommandLine(args, { MALIPO_ACTOR: actor });
    return { status: 0, line: '' };
  } catch (error) {
    return failureOf(error);
  }
}

async function expectRefused(
  run: AdminTester['run'],
  [command, line]: BadCase,
  options?: AdminOptions,
): Promise<void> {
  const { status, stdout, stderr } = await run(withReason(command), options);
  expect([status, stdout], `${command}: ${stderr}`).to.deep.equal([1, '']);
  expectLine(stderr, line, command);
}

/** Fails unless this is a single line that contains, or matches, what it should. */
export function expectLine(output: string, line: string | RegExp, command: CommandLine): void {
  const what = String(command);
  expect(output, what).to.match(/^[^\n]+\n$/);
  if (typeof line === 'string') expect(output, what).to.include(line);
  else expect(output, what).to.match(line);
}

function argumentsOf(command: CommandLine): string[] {
  return typeof command === 'string' ? command.split(' ').filter((part) => part) : command;
}

/** Reads, and what brings its own reason, are left as they are. */
function withReason(command: CommandLine): string[] {
  const args = argumentsOf(command);
  const isRead = ['list', 'show', 'status'].includes(args[1] ?? '');
  const hasReason = args.some((argument) => argument.startsWith('--reason'));
  return isRead || hasReason || args.length < 2 ? args : [...args, '--reason', REASON];
}

function auditsIn(database: Database): Promise<AuditRow[]> {
  return rows<AuditRow>(
    database,
    `SELECT actor, action, merchant_id, subject, reason, details FROM audit_log
     ORDER BY happened_at, id`,
  );
}

const WATCHED = [
  'merchants',
  'wallets',
  'users',
  'apps',
  'app_secrets',
  'token_families',
  'paused_channels',
  'collections',
  'payouts',
  'reversals',
  'returns',
  'movements',
  'discrepancies',
  'events',
  'journals',
  'entries',
  'audit_log',
];

/** A digest of every table that the command line writes to. */
async function snapshot(database: Database): Promise<Record<string, string | null>> {
  const digests: Record<string, string | null> = {};
  for (const table of WATCHED) {
    const row = await firstRow<{ digest: string | null }>(
      database,
      `SELECT md5(string_agg(CAST(t AS text), '|' ORDER BY CAST(t AS text))) AS digest FROM ${table} t`,
    );
    digests[table] = row!.digest;
  }
  return digests;
}
