import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate whose last day is in the past, as those in use are. */
export function expiredCertificate(folder: string): { certificate: string; key: string } {
  const path = (name: string) => join(folder, name);
  const request = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=daraja'];
  const files = ['-keyout', path('key.pem'), '-out', path('csr.pem')];
  openssl('req', ...request, ...files);
  const validity = ['-days', '-1', '-signkey', path('key.pem')];
  openssl('x509', '-req', '-in', path('csr.pem'), ...validity, '-out', path('cert.pem'));
  const text = (name: string) => readFileSync(path(name), 'utf8');
  return { certificate: text('cert.pem'), key: text('key.pem') };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}
