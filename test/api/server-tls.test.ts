import { readFileSync } from 'node:fs';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { startApiServer } from '../../src/api/app.ts';
import type { HttpServer } from '../../src/http/http-server.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { describeWith } from '../support/programs.ts';

describeWith(['openssl'], 'The API’s own HTTPS', () => {
  let certificates: Certificates;
  let server: HttpServer;

  before(async () => {
    certificates = await makeCertificates('IP:127.0.0.1');
    const tls = { cert: certificates.cert, key: certificates.key };
    const config = { tls, port: 0, host: '127.0.0.1' };
    const { signal } = new AbortController();
    server = await startApiServer(config, (_req, res) => void res.end('done'), signal);
  });

  after(() => server?.close());

  /** What a client with these wishes agrees on with the server, or why they do not agree. */
  function agreement(wishes: ConnectionOptions): Promise<string> {
    return new Promise((resolve) => {
      const ca = readFileSync(certificates.ca);
      const socket: TLSSocket = connect(
        { port: server.port, host: '127.0.0.1', ca, ...wishes },
        () => {
          resolve(`${socket.getProtocol()} ${socket.getCipher().standardName}`);
          socket.destroy();
        },
      );
      socket.once('error', ({ message }) => resolve(message));
    });
  }

  it('is TLS 1.3 with whoever speaks it', async () => {
    expect(await agreement({})).to.match(/^TLSv1\.3 /);
  });

  const OLD = { maxVersion: 'TLSv1.2' } as const;

  it('is TLS 1.2 with forward secrecy otherwise, and nothing older', async () => {
    expect(await agreement(OLD)).to.match(/^TLSv1\.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256$/);
    const ancient = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;
    const anyCipher = 'ALL:@SECLEVEL=0';
    expect(await agreement({ ...ancient, ciphers: anyCipher })).to.match(/alert|protocol/i);
  });

  for (const ciphers of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-SHA']) {
    it(`does not take ${ciphers}`, async () => {
      expect(await agreement({ ...OLD, ciphers })).to.match(/handshake failure|no cipher/i);
    });
  }
});
