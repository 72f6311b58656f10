import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { createServer, type Server } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { sendBefore, TooLateError } from '../../src/gateways/http-exchange.ts';
import { deadlineIn } from '../../src/time.ts';
import { makeCertificates } from '../support/certificates.ts';
import { withFreeze } from '../support/frozen.ts';

const DEADLINE_MS = 60_000;
const FROZEN_MS = 120_000;

for (const protocol of ['http', 'https'] as const) {
  describe(`A request over ${protocol} with a deadline`, () => {
    let server: Server;
    let agent: http.Agent;
    let received: number;
    /** Runs while the name of the server is looked up for a new connection. */
    let onLookup: () => void;

    before(async () => {
      const { cert, key } = await makeCertificates('DNS:localhost');
      const listener: http.RequestListener = (_req, res) => {
        received += 1;
        res.end('ok');
      };
      server =
        protocol === 'http'
          ? createServer(listener)
          : https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, listener);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });

    after(() => {
      server.close();
      server.closeAllConnections();
    });

    beforeEach(() => {
      received = 0;
      onLookup = () => {};
      const options = { keepAlive: true, maxSockets: 1 };
      agent =
        protocol === 'http'
          ? new http.Agent(options)
          : new https.Agent({ ...options, rejectUnauthorized: false });
    });

    afterEach(() => agent.destroy());

    async function send(deadline = deadlineIn(DEADLINE_MS)): Promise<string> {
      const { port } = server.address() as AddressInfo;
      const request = (protocol === 'http' ? http : https).request({
        ...{ host: 'gateway.invalid', port, agent, method: 'POST' },
        lookup: (_name, _options, answer) => {
          onLookup();
          answer(null, [{ address: '127.0.0.1', family: 4 }]);
        },
      });
      sendBefore(deadline, request);
      request.end('a body');
      try {
        const [response] = (await once(request, 'response')) as [http.IncomingMessage];
        response.resume();
        await once(response, 'end');
        return request.reusedSocket ? 'sent on a kept connection' : 'sent';
      } catch (error) {
        return error instanceof TooLateError ? 'too late' : String(error);
      }
    }

    it('is sent before it, on a new connection and on a kept one', async () => {
      expect(await send()).to.equal('sent');
      expect(await send()).to.equal('sent on a kept connection');
      expect(received).to.equal(2);
    });

    it('is not sent after it on a kept connection', async () => {
      expect(await send()).to.equal('sent');
      expect(await send(deadlineIn(0))).to.equal('too late');
      expect(received).to.equal(1);
    });

    it('is not sent when its process is frozen while it connects', () =>
      withFreeze('wall', FROZEN_MS, async (freeze) => {
        onLookup = freeze;
        expect(await send()).to.equal('too late');
        expect(received).to.equal(0);
      }));
  });
}
