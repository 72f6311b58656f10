import { readFileSync, writeFileSync } from 'node:fs';
import { envExample, withSettingsTables } from './settings-documents.ts';

/** Writes every setting into docs/settings.md and .env.example. */
const TABLES = new URL('../docs/settings.md', import.meta.url);
const EXAMPLE = new URL('../.env.example', import.meta.url);

writeFileSync(TABLES, withSettingsTables(readFileSync(TABLES, 'utf8')));
writeFileSync(EXAMPLE, envExample());
