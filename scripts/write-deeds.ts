import { readFileSync, writeFileSync } from 'node:fs';
import { withDeedsTable } from './deeds-table.ts';

/** Writes the table of what staff can do into SECURITY.md. */
const FILE = new URL('../SECURITY.md', import.meta.url);
writeFileSync(FILE, await withDeedsTable(readFileSync(FILE, 'utf8')));
