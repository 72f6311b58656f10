import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, rows } from '../../connections/database.ts';
import type { Seal } from './seal.ts';

const FILE = 'seals.jsonl';

/** Lists all seals, those of a table in the order of days. */
export function listSeals(database: Database): Promise<Seal[]> {
  return rows<Seal>(
    database,
    `SELECT table_name, CAST(day AS text) AS day, row_count, hash, hash_before, sealed_at
     FROM seals ORDER BY table_name, seals.day`,
  );
}

/** Returns the line of a seal in the file. */
export function lineOf({ day, table_name, row_count, hash, hash_before, sealed_at }: Seal): string {
  return JSON.stringify({ day, table_name, row_count, hash, hash_before, sealed_at });
}

/**
 * Appends each seal whose line the file lacks. A line stays for ever, so a seal that was rewritten in
 * the database has two. After a stop in the middle of a line the next run writes the seal again, on
 * a new line. Two processes at once may write a line twice, which does no harm.
 * @throws the file system's error
 */
export async function exportSeals(database: Database, folder: string): Promise<void> {
  const path = join(folder, FILE);
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const known = new Set(text.split('\n'));
  const missing = (await listSeals(database)).map(lineOf).filter((line) => !known.has(line));
  if (missing.length === 0) return;
  const isTorn = text !== '' && !text.endsWith('\n');
  await sync(path, 'a', `${isTorn ? '\n' : ''}${missing.join('\n')}\n`);
  // The name of a new file must last too.
  await sync(folder, 'r');
}

async function sync(path: string, flags: string, text = ''): Promise<void> {
  const file = await open(path, flags);
  try {
    if (text) await file.appendFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
