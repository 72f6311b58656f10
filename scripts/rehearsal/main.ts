import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCertificates } from '../sandbox/processes/certificates.ts';

console.log(
  'Malipo rehearsal: production on this machine, with a simulator of Daraja behind M-PESA\n',
);
const words = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'malipo-rehearsal-'));
const { ca } = await makeCertificates(folder, 'DNS:localhost,IP:127.0.0.1');
// Node reads what it trusts at its start only.
const rehearsal = spawn(
  process.execPath,
  ['--import', 'tsx', fileURLToPath(new URL('./rehearse.ts', import.meta.url)), folder, ...words],
  { stdio: 'inherit', env: { ...process.env, NODE_EXTRA_CA_CERTS: ca } },
);
// The terminal tells both. This one waits for the other.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => rehearsal.kill(signal));
}
rehearsal.on('exit', (status) => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(status ?? 1);
});
