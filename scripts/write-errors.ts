import { readFileSync, writeFileSync } from 'node:fs';
import { withErrorsTable } from './errors-document.ts';

/** Writes every error of the API into the guide about errors. */
const GUIDE = new URL('../docs/guides/errors.md', import.meta.url);

writeFileSync(GUIDE, withErrorsTable(readFileSync(GUIDE, 'utf8')));
