import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../src/api/app.ts';
import { createMetrics } from '../../src/metrics/process-metrics.ts';
import { loadConfig } from '../../src/service/service.ts';
import { useStore } from '../support/world.ts';

const METRICS_TOKEN = 'a-token-of-thirty-two-characters';

describe('The metrics on the port that merchants reach', () => {
  const store = useStore({ merchant: 'none' });

  /** What the app answers, with this environment, to a request for its metrics. */
  async function ask(env: Record<string, string>, authorization?: string, method = 'GET') {
    const config = loadConfig({ DATABASE_URL: store.url, ...env });
    const service = store.parts(config);
    createMetrics(service, 'web');
    const server = createServer(createApp(service));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
      method,
      headers: authorization ? { authorization } : {},
    });
    const text = await answer.text();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return { status: answer.status, text, allowed: answer.headers.get('allow') };
  }

  it('are not there without a token of their own', async () => {
    expect((await ask({}, `Bearer ${METRICS_TOKEN}`)).status).to.equal(404);
  });

  it('are for whoever sends the token', async () => {
    const { status, text } = await ask({ METRICS_TOKEN }, `Bearer ${METRICS_TOKEN}`);
    expect(status).to.equal(200);
    expect(text).to.include('malipo_http_request_duration_seconds');
  });

  it('say which methods they have', async () => {
    for (const [method, expected] of [
      ['POST', 405],
      ['OPTIONS', 204],
    ] as const) {
      const { status, allowed } = await ask({ METRICS_TOKEN }, undefined, method);
      expect([status, allowed]).to.deep.equal([expected, 'GET, HEAD, OPTIONS']);
    }
    expect((await ask({}, undefined, 'POST')).status).to.equal(404);
  });

  it('show that no channel has refused anything, before one has', async () => {
    const { text } = await ask({ METRICS_TOKEN }, `Bearer ${METRICS_TOKEN}`);
    expect(text).to.match(/^malipo_http_refusals_total\{.*code="channel_paused".*\} 0$/m);
  });

  const WRONG = {
    'no token': undefined,
    'another token': `Bearer ${METRICS_TOKEN.toUpperCase()}`,
    'a part of it': `Bearer ${METRICS_TOKEN.slice(0, -1)}`,
    'more than it': `Bearer ${METRICS_TOKEN}x`,
    'it in another way': `Basic ${METRICS_TOKEN}`,
    'an empty one': 'Bearer ',
  };
  for (const [what, authorization] of Object.entries(WRONG)) {
    it(`are refused to whoever sends ${what}`, async () => {
      const { status, text } = await ask({ METRICS_TOKEN }, authorization);
      expect(status).to.equal(401);
      expect(text).to.not.include('malipo_');
    });
  }
});
