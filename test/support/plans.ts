import type { Database } from '../../src/connections/database.ts';

interface Statement {
  sql: string;
  bindings: unknown[];
}

/** How the database would do each statement that `work` makes of it, in their order. */
export async function plansOf(database: Database, work: () => Promise<unknown>): Promise<string[]> {
  const statements: Statement[] = [];
  const note = (statement: Statement) => statements.push(statement);
  database.on('query', note);
  await work().finally(() => database.removeListener('query', note));
  const planned = statements.filter(({ sql }) => !/^\s*(BEGIN|COMMIT|SET)\b/i.test(sql));
  return Promise.all(planned.map((statement) => planOf(database, statement)));
}

/** How the database would do a statement. */
export async function planOf(database: Database, { sql, bindings }: Statement): Promise<string> {
  // Named bindings have their numbers already, which only the connection itself reads.
  const connection = await database.client.acquireConnection();
  try {
    const { rows } = await connection.query(`EXPLAIN ${sql}`, bindings);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  } finally {
    await database.client.releaseConnection(connection);
  }
}

/** How the database would do a statement whatever its values are. PostgreSQL from 16 on tells it. */
export async function generalPlanOf(database: Database, { sql }: Statement): Promise<string> {
  const connection = await database.client.acquireConnection();
  try {
    const { rows } = await connection.query(`EXPLAIN (GENERIC_PLAN) ${sql}`);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  } finally {
    await database.client.releaseConnection(connection);
  }
}
