import { readFileSync } from 'node:fs';
import { type Database, rows } from '../../src/connections/database.ts';

/** The two roles of a database, by name, and the password of both. */
export interface Roles {
  owner: string;
  service: string;
  password: string;
}

const ROLES_FILE = new URL('../../deploy/postgres/roles.sql', import.meta.url);

/** Makes a database and its roles as operators do, by the same file. */
export async function makeRoles(
  server: Database,
  database: string,
  { owner, service, password }: Roles,
): Promise<void> {
  const names: Record<string, string> = { database, owner, service };
  const statements = readFileSync(ROLES_FILE, 'utf8')
    .replace(/^(--|\\).*$/gm, '')
    .replace(/:'\w+'/g, `'${password}'`)
    .replace(/:"(\w+)"/g, (_, name: string) => `"${names[name]}"`);
  for (const statement of statements.split(';')) {
    if (statement.trim()) await rows(server, statement);
  }
}

/** The address of a database of the same server, as this role. */
export function urlAs(serverUrl: string, role: string, password: string, database: string): string {
  const url = new URL(serverUrl);
  url.username = role;
  url.password = password;
  url.pathname = `/${database}`;
  return url.href;
}
