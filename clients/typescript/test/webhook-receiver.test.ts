import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { signatureHeaders } from '../../../src/domain/webhooks/sign.ts';
import { type WebhookEvent, webhookReceiver } from '../src/index.ts';

const SECRET = 'as_4f0c6a1e9b';
const BODY = JSON.stringify({
  notification: { type: 'collection', event: 'transaction.completed' },
  data: { id: '01a1f87d', amount: '250.00', ref_no: 'order-1042' },
});

describe('The client’s receiver of webhooks', () => {
  let events: WebhookEvent[];
  let errors: unknown[];
  let isBroken: boolean;

  beforeEach(() => {
    [events, errors, isBroken] = [[], [], false];
  });

  const receiver = webhookReceiver({
    secrets: SECRET,
    onEvent: async (event) => {
      if (isBroken) throw new Error('The shop is closed');
      events.push(event);
    },
    onError: (error) => errors.push(error),
  });

  /** Posts a webhook to a server with this handler, and returns the status of the answer. */
  async function post(handler: RequestListener, secret = SECRET, body = BODY): Promise<number> {
    const server = createServer(handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const timestamp = Math.floor(Date.now() / 1_000);
    const signed = { event_id: 'event-1', sequence: 7, timestamp, body, secrets: [secret] };
    const headers = { 'content-type': 'application/json', ...signatureHeaders(signed) };
    const url = `http://127.0.0.1:${port}/webhooks`;
    const { status } = await fetch(url, { method: 'POST', headers, body });
    server.close();
    return status;
  }

  for (const [where, handler] of [
    ['a server of Node', receiver],
    ['Express', express().post('/webhooks', receiver)],
    [
      'Express with raw bodies',
      express()
        .use(express.raw({ type: '*/*' }))
        .use(receiver),
    ],
  ] as [string, RequestListener][]) {
    it(`takes what is authentic, in ${where}`, async () => {
      expect(await post(handler)).to.equal(200);
      expect(await post(handler, 'as_other')).to.equal(401);
      expect(events.map(({ id, data }) => [id, data.ref_no])).to.deep.equal([
        ['event-1', 'order-1042'],
      ]);
      expect(errors).to.deep.equal([]);
    });
  }

  it('asks for the webhook again when the shop fails', async () => {
    isBroken = true;
    expect(await post(receiver)).to.equal(500);
    expect(String(errors)).to.include('The shop is closed');
  });

  it('says so when a parser has read the body', async () => {
    const app = express().use(express.json()).post('/webhooks', receiver);
    expect(await post(app)).to.equal(500);
    expect(String(errors)).to.include('before express.json()');
    expect(events).to.deep.equal([]);
  });
});
