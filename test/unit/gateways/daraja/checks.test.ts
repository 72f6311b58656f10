import { expect } from 'chai';
import { checkCallbacks, checkHost } from '../../../../src/gateways/daraja/checks.ts';
import { type LocalServer, startLocalServer } from '../../../support/gateway-fixtures.ts';

const DARAJA = 'https://api.example.com';

describe('the check of callback addresses', () => {
  let server: LocalServer;
  let answer = { status: 200, body: '' };

  before(async () => {
    server = await startLocalServer((req, res) => {
      req.resume();
      res.writeHead(answer.status).end(answer.body);
    });
  });
  after(() => server.close());

  async function found(fields: object = {}, darajaUrl = DARAJA): Promise<string[]> {
    const addresses = { base: server.url, keyId: 'k1', float: '', floatTimeout: '' };
    const findings = await checkCallbacks(darajaUrl, {
      ...{ ...addresses, unread: `${server.url}/unread` },
      ...fields,
    });
    return findings.map(({ about, state, words }) => `${about}: ${state}, ${words}`);
  }

  it('wants https for all but a simulator', async () => {
    expect((await found())[0]).to.match(/^callback address: wrong, http:.* must begin with https/);
    expect((await found({}, 'http://127.0.0.1'))[0]).to.match(/: ok, .* has the right form/);
    expect((await found({ base: 'https://pay.example.com' }))[0]).to.match(/: ok, /);
  });

  it('finds every word that Safaricom refuses, in the address and in the key', async () => {
    const words = ['M-PESA', 'mpesa', 'safaricom', 'exe', 'exec', 'cmd', 'sql', 'query'];
    for (const word of [...words, 'ngrok', 'requestbin']) {
      const base = `https://pay.example.com/${word}`;
      expect((await found({ base }))[0], word).to.match(new RegExp(`refuses "${word}" in https`));
      const [first] = await found({ base: 'https://pay.example.com', keyId: `a${word}` });
      expect(first, word).to.match(/in the id of the first SECRETS_KEY/);
    }
  });

  it('knows our API, also where it refuses this machine, and nobody else', async () => {
    const reached = async (status: number, body: string) => {
      answer = { status, body };
      return (await found()).at(-1)!.replace(/^callbacks from here: (\w+),.*/, '$1');
    };
    expect(await reached(200, '{"ResultCode":0,"ResultDesc":"Accepted"}')).to.equal('ok');
    expect(await reached(404, '{"code":"path_not_found"}')).to.equal('warning');
    for (const [status, body] of [
      [200, '<html>'],
      [200, '{}'],
      [404, ''],
      [301, ''],
      [502, '{"ResultCode":0}'],
    ] as const) {
      expect(await reached(status, body), `${status} ${body}`).to.equal('wrong');
    }
  });

  it('says when a host answers without its time', async () => {
    const timeless = await startLocalServer((_req, res) => {
      res.sendDate = false;
      res.end();
    });
    const [host, clock] = await checkHost(timeless.url);
    await timeless.close();
    expect([host?.state, clock?.state]).to.deep.equal(['ok', 'wrong']);
  });
});
