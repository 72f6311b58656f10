import { cpSync } from 'node:fs';
import { ASSETS } from '../src/api/documentation/pages.ts';

/*
 * The end of the build: copies what the documentation serves beside the code, the guides and the
 * reference's script, into `dist`. So the built service needs neither the source nor packages of
 * development.
 */
const ROOT = new URL('../', import.meta.url);

for (const path of ASSETS) {
  cpSync(new URL(path, ROOT), new URL(`dist/${path}`, ROOT), { recursive: true });
}
