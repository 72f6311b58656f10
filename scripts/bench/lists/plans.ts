import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../../src/api/app.ts';
import { type Database, rows } from '../../../src/connections/database.ts';
import { createService } from '../../../src/process/boot.ts';
import { createLogger } from '../../../src/process/logger.ts';
import type { Plan } from '../scenario.ts';
import type { Stage } from '../stage.ts';
import { type ListCase, labelOf } from './cases.ts';

const ANSWER_TIMEOUT_MS = 60_000;
/** The statements of a list, and not those that find out who is calling. */
const LIST_STATEMENT = /FROM (collections|entries)\b/;

/**
 * The plans of everything that the lists ask the database, from the service's own code run
 * over a database that explains each statement before it executes it.
 */
export async function explainCases(
  stage: Stage,
  cases: ListCase[],
  urls: string[],
  say: (line: string) => void,
): Promise<Plan[]> {
  const plans: Plan[] = [];
  let name = '';
  const database = explaining(stage.database, (text) => plans.push({ name, text }));
  const logger = createLogger('error', 'bench');
  logger.silent = true;
  const server = createServer(createApp(createService(stage.config, logger, database)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    for (const [index, url] of urls.entries()) {
      name = labelOf(cases[index]!);
      say(`plan: ${name}`);
      const token = await stage.tokenOf(stage.merchants[0]!);
      const answer = await fetch(url.replace(stage.origin, origin), {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      await answer.text();
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return plans;
}

function explaining(database: Database, take: (text: string) => void): Database {
  const explain = async (sql: string, bindings: Record<string, unknown>) => {
    if (LIST_STATEMENT.test(sql)) {
      const lines = await rows<{ 'QUERY PLAN': string }>(
        database,
        `EXPLAIN (ANALYZE, BUFFERS) ${sql}`,
        bindings,
      );
      take(lines.map((line) => line['QUERY PLAN']).join('\n'));
    }
    return database.raw(sql, bindings as never);
  };
  return new Proxy(database, {
    get: (target, property) => (property === 'raw' ? explain : Reflect.get(target, property)),
  });
}
