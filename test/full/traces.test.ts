import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { rows } from '../../src/connections/database.ts';
import { firstSpanOf } from '../../src/tracing/tracing.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ProcessStack, startProcessStack } from '../support/process-stack.ts';

/** A span as OTLP has it in JSON. */
interface Told {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code: number };
}
type Span = Told & { service: string };

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Told[] }[];
  }[];
}

const UNSET = 0;

/** A collector that keeps what it is told. */
async function startCollector() {
  const bodies: Export[] = [];
  const server: Server = createServer(async (req, res) => {
    if (req.url === '/v1/traces') bodies.push((await json(req)) as Export);
    res.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => JSON.stringify(bodies),
    spans: (): Span[] =>
      bodies.flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ resource, scopeSpans }) => {
          const name = resource.attributes.find(({ key }) => key === 'service.name');
          const service = name!.value.stringValue!;
          return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
        }),
      ),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe('Traces of payments', () => {
  let testDatabase: TestDatabase;
  let stack: ProcessStack | undefined;
  let collector: Awaited<ReturnType<typeof startCollector>>;

  before(async () => {
    collector = await startCollector();
  });

  after(() => collector.close());

  const start = async (env: Record<string, string>) => {
    testDatabase = await createTestDatabase();
    const { database, url } = testDatabase;
    const settings = { DATABASE_URL: url, WEBHOOK_ALLOW_PRIVATE: 'true', ...env };
    stack = await startProcessStack({ database, env: settings, shape: 'every type' });
    return stack;
  };
  const stop = async () => {
    await stack?.stop();
    stack = undefined;
  };
  afterEach(async () => {
    await stop();
    await testDatabase.drop();
  });
  const idOf = async (table: string) => {
    const [row] = await rows<{ id: string }>(testDatabase.database, `SELECT id FROM ${table}`);
    return row!.id;
  };

  it('lead from the request through every process to the webhook, and hold no phone', async () => {
    const { play } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await play(1);
    await stop();
    const expected = {
      collections: ['POST /collections/checkouts/initiate', 'submit collection'],
      payouts: ['POST /payouts/initiate', 'submit payout'],
      reversals: ['POST /reversals/initiate', 'submit reversal'],
    };
    for (const [table, [request, submission]] of Object.entries(expected)) {
      const first = firstSpanOf(await idOf(table));
      const trace = collector.spans().filter(({ traceId }) => traceId === first.traceId);
      const nameOf = (id?: string) => trace.find(({ spanId }) => spanId === id)?.name;
      const told = trace.map(
        ({ service, name, parentSpanId }) => `${service} ${name} < ${nameOf(parentSpanId)}`,
      );
      expect(told, table).to.have.members([
        `malipo-web ${request} < undefined`,
        `malipo-submission ${submission} < ${request}`,
        `malipo-submission gateway submit < ${submission}`,
        `malipo-web POST /gateway/callbacks/{gateway}/{token} < ${request}`,
        `malipo-settlement process callback < ${request}`,
        `malipo-webhooks deliver webhook < ${request}`,
        'malipo-webhooks POST webhook < deliver webhook',
      ]);
      const root = trace.find(({ name }) => name === request);
      expect([root!.spanId, root!.parentSpanId]).to.deep.equal([first.spanId, undefined]);
      expect(trace.map(({ status }) => status.code)).to.deep.equal(trace.map(() => UNSET));
    }
    expect(collector.text()).to.not.match(/254\d{9}/);
  });

  it('hold up no payment while the collector is away', async () => {
    const away = `http://127.0.0.1:${await findFreePort()}`;
    const { play, complaints } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: away });
    await play(1);
    await stop();
    const messages = complaints().map((line) => JSON.parse(line).message);
    expect(new Set(messages)).to.deep.equal(new Set(['traces are not sent']));
  });
});
