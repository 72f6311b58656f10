import { expect } from 'chai';
import { type Database, firstRow, rows } from '../../src/connections/database.ts';
import type { Service } from '../../src/service/service.ts';
import { loadAdmin } from './admin-modules.ts';
import { type AdminOptions, type AdminRun, runAdmin } from './admin-runs.ts';
import {
  ACTOR,
  argumentsOf,
  type BadCase,
  type CommandLine,
  expectLine,
  REASON,
  readArguments,
  withReason,
} from './admin-usage.ts';
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

/** The operator's command line over a database of its own. */
export interface AdminTester {
  database: Database;
  /** For what only the owner of the tables may. */
  owner: Database;
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
  /** What the audit log has of changes, oldest first. */
  audits(): Promise<AuditRow[]>;
  /** What it has of reads, oldest first. */
  reads(): Promise<AuditRow[]>;
  /** The newest line of the audit log, which must be by the tester and for the reason. */
  lastAudit(): Promise<Pick<AuditRow, 'action' | 'merchant_id' | 'subject' | 'details'>>;
  /** Fails if `work` changes anything at all, but for a note that it has read or was refused. */
  unchanged<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export async function createAdminTester(): Promise<AdminTester> {
  const { database, owner, url, drop } = await createTestDatabase();
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
    owner,
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
    audits: () => auditsIn(database, 'changes'),
    reads: () => auditsIn(database, 'reads'),
    lastAudit: async () => {
      const { actor, reason, ...rest } = (await auditsIn(database, 'changes')).at(-1)!;
      expect({ actor, reason }).to.deep.equal({ actor: ACTOR, reason: REASON });
      return rest;
    },
    unchanged,
    close: drop,
  };
}

/** The answer of a command line, with what `--json` prints as read from the text. */
export interface ShownAnswer {
  data: Document;
  lines: string[];
  isFailure: boolean;
}

/** Does what a command line says, with a service that is open already. */
export async function runHere(service: Service, command: CommandLine): Promise<ShownAnswer> {
  const order = readArguments(withReason(command));
  if (typeof order === 'string') throw new Error('That would only show help');
  const { perform } = await loadAdmin();
  const answer = await perform(service, order);
  return { ...answer, data: JSON.parse(JSON.stringify(answer.data)) };
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

function auditsIn(database: Database, what: 'changes' | 'reads'): Promise<AuditRow[]> {
  return rows<AuditRow>(
    database,
    `SELECT actor, action, merchant_id, subject, reason, details FROM audit_log
     WHERE (reason IS NULL) = :areReads ORDER BY happened_at, id`,
    { areReads: what === 'reads' },
  );
}

const WATCHED = [
  'merchants',
  'wallets',
  'users',
  'apps',
  'app_secrets',
  'webhook_secrets',
  'retired_callback_keys',
  'token_families',
  'totp_secrets',
  'recovery_codes',
  "(SELECT * FROM security_events WHERE kind <> 'staff_refused')",
  'log_in_limits',
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
  'staff',
  'staff_totp_secrets',
  '(SELECT * FROM audit_log WHERE reason IS NOT NULL)',
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
