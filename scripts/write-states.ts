import { readFileSync, writeFileSync } from 'node:fs';
import { withStateTable } from './state-table.ts';

/** Writes the states of payments into docs/architecture.md; with --check it only compares. */
const FILE = new URL('../docs/architecture.md', import.meta.url);

const document = readFileSync(FILE, 'utf8');
const written = withStateTable(document);
if (process.argv.includes('--check')) {
  if (written !== document) {
    console.error('docs/architecture.md does not show the states as they are: npm run states');
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, written);
}
