import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './environment.ts';

/** A new folder of this run, which the end of the run removes unless a test has failed. */
export function makeFolder(name: string): string {
  return mkdtempSync(join(environment.folder, `${name}-`));
}
