import { readFileSync, writeFileSync } from 'node:fs';
import { withStateDiagrams } from './state-diagrams.ts';

/** Draws the states of payments into docs/architecture.md; with --check it only compares. */
const FILE = new URL('../docs/architecture.md', import.meta.url);

const document = readFileSync(FILE, 'utf8');
const drawn = withStateDiagrams(document);
if (process.argv.includes('--check')) {
  if (drawn !== document) {
    console.error('docs/architecture.md does not show the states as they are: npm run states');
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, drawn);
}
