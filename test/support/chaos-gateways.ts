import { type Database, rows } from '../../src/connections/database.ts';
import { createTokenStore } from '../../src/domain/gateway-accounts/token-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { daraja } from '../../src/gateways/daraja/driver.ts';
import { settingsOf } from '../../src/gateways/driver.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createDrivers } from '../../src/gateways/registry.ts';
import { simulator } from '../../src/gateways/simulator/driver.ts';
import type { Config } from '../../src/process/config.ts';
import { request } from './api-client.ts';

/** A gateway of a chaos test, as the operator reaches it. */
export interface ChaosGateway {
  gateway: Gateway;
  /** The channel whose payments it carries. */
  channel: number;
  /** Of its simulator. */
  url: string;
}

/** A list of movements, and the kinds of which it has every one. */
export interface Statement {
  lines: StatementLine[];
  covers: readonly StatementLine['kind'][];
}

const ALL_KINDS = ['collection', 'payout', 'reversal'] as const;
const CENTS_PER_SHILLING = 100;

/** Returns one for each driver. In these tests one channel goes to each. */
export function gatewaysOf(config: Config, database: Database): ChaosGateway[] {
  const drivers = createDrivers(config, createTokenStore(database, config.secretsKeys));
  const darajaUrl = settingsOf(daraja, config).DARAJA?.baseUrl;
  const simulatorUrl = settingsOf(simulator, config).SIMULATOR_URL;
  const channels = new Map([...config.channels].map(([code, name]) => [name, code]));
  return [...drivers].map(([name, { gateways }]) => ({
    gateway: gateways[0]!,
    channel: channels.get(name)!,
    url: name === 'daraja' ? darajaUrl! : simulatorUrl,
  }));
}

/**
 * Reads what an operator can get of a time: first what the gateway answers, then the file that the
 * operator downloads, which lists everything.
 * @returns null when the gateway does not answer now
 */
export async function statementsOf(
  database: Database,
  { gateway, url }: ChaosGateway,
  { start, end }: { start: Date; end: Date },
): Promise<Statement[] | null> {
  const answer = await gateway.statement!(start, end);
  if (answer.outcome !== 'lines') return null;
  const answered = { lines: answer.lines, covers: gateway.statementCovers! };
  const lines = await withoutUnknownPrompts(database, await movementsAt(url));
  return [answered, { lines, covers: ALL_KINDS }];
}

/**
 * Takes the names of the prompts that nobody has told us from the operator's file. When the acknowledgement and the
 * callback of a prompt were lost, its name would be a stranger's to us, and a question for support. The known names
 * stay: a nameless line may be anybody's with these last digits of the phone, which are a behaviour's here and shared
 * by many, so a prompt that was never taken could not be ruled out.
 */
async function withoutUnknownPrompts(
  database: Database,
  lines: readonly StatementLine[],
): Promise<StatementLine[]> {
  const known = await rows<{ external_ref: string }>(
    database,
    'SELECT external_ref FROM collections WHERE external_ref IS NOT NULL',
  );
  const names = new Set(known.map(({ external_ref }) => external_ref));
  const isStrange = (name: string | null) => name?.startsWith('ws_CO_') && !names.has(name);
  return lines.map((line) => (isStrange(line.reference) ? { ...line, reference: null } : line));
}

/** Reads all movements of a simulator. */
export async function movementsAt(url: string): Promise<(StatementLine & { reference: string })[]> {
  const { body } = await request('GET', `${url}/statement`);
  return body.map((line: Record<string, string>) => ({
    kind: line.kind,
    reference: line.reference,
    account: line.account,
    amountCents: Math.round(Number(line.amount) * CENTS_PER_SHILLING),
    transId: line.trans_id,
    completedAt: new Date(line.completed_at!),
  }));
}
