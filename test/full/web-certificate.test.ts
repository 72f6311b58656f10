import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { startServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { createTestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith } from '../support/programs.ts';

describeWith(['openssl'], 'The web process with a certificate', () => {
  it('serves HTTPS, and nothing else', async () => {
    const folder = makeFolder('tls');
    const { url, drop } = await createTestDatabase();
    const cert = join(folder, 'cert.pem');
    const key = join(folder, 'key.pem');
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
        ...['-nodes', '-days', '1', '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert],
        ...['-addext', 'subjectAltName=IP:127.0.0.1'],
      ],
      { stdio: 'ignore' },
    );
    const port = await findFreePort();
    const web = await startServiceProcess({
      name: 'web',
      program: 'src/main/web.ts',
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: url,
        PORT: String(port),
        HOST: '127.0.0.1',
        TLS_CERT: cert,
        TLS_KEY: key,
        REQUIRE_HTTPS: 'true',
      },
      logFolder: folder,
      reaper: environment.reaper,
    });
    try {
      const answer = await new Promise<[number | undefined, string]>((resolve, reject) => {
        const address = `https://127.0.0.1:${port}/openapi.json`;
        getHttps(address, { ca: readFileSync(cert), agent: false }, (response) => {
          text(response).then((body) => resolve([response.statusCode, body]), reject);
        }).once('error', reject);
      });
      expect(answer[0]).to.equal(200);
      expect(JSON.parse(answer[1]).openapi).to.match(/^3\.1/);
      const plain = await new Promise<string>((resolve) => {
        getHttp(`http://127.0.0.1:${port}/healthz`, { agent: false }, ({ statusCode }) =>
          resolve(String(statusCode)),
        ).once('error', () => resolve('no answer'));
      });
      expect(plain).to.equal('no answer');
    } finally {
      await web.stop();
      await drop();
    }
  });
});
