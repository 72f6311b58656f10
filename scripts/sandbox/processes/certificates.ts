import { execFileSync } from 'node:child_process';
import { chownSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findServerUser } from './server-user.ts';

/** A private CA, and a server's certificate from it; paths of PEM files. */
export interface Certificates {
  ca: string;
  cert: string;
  key: string;
  /** Another CA, which has signed nothing here but itself. */
  strangeCa: string;
  strangeKey: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Makes them in a folder for these names, e.g. `DNS:localhost`, readable by the embedded servers' user. */
export async function makeCertificates(folder: string, names: string): Promise<Certificates> {
  const path = (name: string) => join(folder, name);
  for (const ca of ['ca', 'strange']) {
    openssl(
      ...['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=${ca}`],
      ...['-keyout', path(`${ca}.key`), '-out', path(`${ca}.pem`)],
    );
  }
  openssl(
    ...['req', ...NEW_KEY, '-subj', '/CN=server'],
    ...['-keyout', path('server.key'), '-out', path('server.csr')],
  );
  writeFileSync(path('names.txt'), `subjectAltName=${names}`);
  openssl(
    ...['x509', '-req', '-in', path('server.csr'), '-days', '2', '-CAcreateserial'],
    ...['-CA', path('ca.pem'), '-CAkey', path('ca.key')],
    ...['-extfile', path('names.txt'), '-out', path('server.pem')],
  );
  const user = findServerUser();
  if (user) {
    for (const file of readdirSync(folder)) chownSync(path(file), user.uid, user.gid);
    chownSync(folder, user.uid, user.gid);
  }
  return {
    ca: path('ca.pem'),
    cert: path('server.pem'),
    key: path('server.key'),
    strangeCa: path('strange.pem'),
    strangeKey: path('strange.key'),
  };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}
