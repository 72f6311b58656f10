import { writeFileSync } from 'node:fs';
import { clientFiles } from './client-files.ts';

/** Writes the API's document into the client, and what the client has made from it. */
for (const [file, text] of await clientFiles()) writeFileSync(file, text);
