import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BootError, runMain } from '../../src/process/lifecycle.ts';
import { ROOT_FOLDER } from '../sandbox/programs.ts';
import { documentText } from './documents.ts';

await runMain(lint);

/**
 * Checks the API's document, as the code makes it now, with the rules of redocly.yaml.
 * @throws BootError with what is wrong
 */
async function lint(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-openapi-'));
  const file = join(folder, 'openapi.json');
  const redocly = join(ROOT_FOLDER, 'node_modules/.bin/redocly');
  try {
    writeFileSync(file, documentText());
    await promisify(execFile)(redocly, ['lint', '--config', 'redocly.yaml', file], {
      cwd: ROOT_FOLDER,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string };
    throw new BootError(`The API's document breaks rules of redocly.yaml:\n${stdout || message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log("The API's document keeps the rules of redocly.yaml.");
}
