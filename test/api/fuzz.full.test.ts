import { Agent } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { BASE_PATH } from '../../src/api/context.ts';
import { checkAnswer } from '../support/answer-check.ts';
import { type FuzzedRequest, type Operation, requestsTo, sendRaw } from '../support/fuzz.ts';
import { FUZZED_REQUESTS_COUNT } from '../support/matrix.ts';
import { request, type TestUser, useService } from '../support/world.ts';

/** A slow machine tries fewer requests, rather than none in time. */
const TIME_LIMIT_MS = 4_000;
const FUNDS_CENTS = 100_000_00;

// biome-ignore lint/suspicious/noExplicitAny: a document of the web, which is read here.
type Any = any;

function operationsOf(document: Any): Operation[] {
  return Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Any>(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: BASE_PATH + path,
      parameters: operation.parameters,
      body: operation.requestBody?.content['application/json'] ?? null,
      statuses: new Set(Object.keys(operation.responses).map(Number)),
    })),
  );
}

describe('Requests made at random from the documentation', () => {
  const service = useService({ env: { TRUST_PROXY: 'loopback' }, merchant: 'all' });
  let person: TestUser;
  let agent: Agent;
  let operations: Operation[];

  before(async () => {
    person = await service.newUser();
    await service.topUp(FUNDS_CENTS, 'T1');
    agent = new Agent({ keepAlive: true });
    operations = operationsOf((await request('GET', `${service.origin}/openapi.json`)).body);
    // The documentation's own app and collection are nobody's: requests would go no further.
    const { ref_no } = await service.newCompletedCollection(null);
    const own = {
      app_code: service.merchant.app_code,
      checkout_ref_no: ref_no,
      // Nothing listens there, so a test of a webhook ends at once.
      callback_url: 'http://127.0.0.1:9/hook',
    };
    for (const { body } of operations) {
      for (const [name, value] of Object.entries(own)) {
        if (body && name in body.example) body.example[name] = value;
      }
    }
  });

  after(async () => {
    agent.destroy();
  });

  async function expectDocumented(statuses: ReadonlySet<number>, sent: FuzzedRequest) {
    const { status, text } = await sendRaw(service.origin, agent, sent);
    const what = `${sent.method} ${sent.path.slice(0, 200)} came to ${status} ${text}`;
    expect(status, what).to.be.below(500);
    expect(statuses.has(status), what).to.equal(true);
    checkAnswer(sent.method, service.origin + sent.path, { status, body: JSON.parse(text) });
  }

  /** Fails with a seed and a path by which fast-check repeats what it found. */
  const fuzz = (requests: fc.Arbitrary<FuzzedRequest>, statuses: ReadonlySet<number>) =>
    fc.assert(
      fc.asyncProperty(requests, (sent) => expectDocumented(statuses, sent)),
      { numRuns: FUZZED_REQUESTS_COUNT, interruptAfterTimeLimit: TIME_LIMIT_MS },
    );

  it('come to nothing but documented answers', async () => {
    expect(operations).to.have.length.above(10);
    for (const operation of operations) {
      // A person's own access is of no app, and logging out must end nobody else's session.
      const { access } = operation.path.startsWith(`${BASE_PATH}/auth/`)
        ? person
        : service.merchant;
      await fuzz(requestsTo(operation, access), operation.statuses);
    }
  });

  it('are not found where there is nothing', async () => {
    const operation = operations.find(({ path }) => path.includes('{'))!;
    const elsewhere = requestsTo(operation, service.merchant.access).map((sent) => ({
      ...sent,
      path: sent.path.replace(BASE_PATH, `${BASE_PATH}/nothing`),
    }));
    await fuzz(elsewhere, new Set([404]));
  });

  it('leave a healthy process behind', async () => {
    expect((await request('GET', `${service.origin}/readyz`)).status).to.equal(200);
    expect((await service.client.initiate()).status).to.equal(200);
    expect(({} as Record<string, unknown>).x).to.equal(undefined);
  });
});
