import dns, { type LookupAddress } from 'node:dns';
import { expect } from 'chai';
import { deadlineIn } from '../../src/domain/deadline.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { HANGING, MISBEHAVIOURS, type Misbehaviour, status } from './broken-servers.ts';
import { CLOCKS, type Clock, withFreeze } from './frozen.ts';
import type { GatewayUnderTest } from './gateway-conformance.ts';
import {
  aSubmission,
  bodyOf,
  closedPortUrl,
  type LocalServer,
  startLocalServer,
} from './gateway-fixtures.ts';

const TIMEOUT_MS = 10_000;
/** For tests in which the time does run out; long enough to connect on a busy machine. */
const SHORT_TIMEOUT_MS = 400;
/** Longer than a test may last: only the deadline can end the call. */
const NEVER_MS = 600_000;
/** Longer than the time until the deadline of `aSubmission`. */
const FROZEN_MS = 120_000;

/**
 * The part of the conformance suite in which the gateway is out of order: what cannot have
 * been processed is `notTaken`, everything else is `unknown`, and nothing is sent twice.
 */
export function describeGatewayOutages(subject: GatewayUnderTest): void {
  describeUnreachable(subject);
  describeBroken(subject);
  describeDeadline(subject);
}

function describeUnreachable(subject: GatewayUnderTest): void {
  const request = aSubmission('collection', subject.accounts.succeeds);
  const expectNothingSent = async (baseUrl: string, timeoutMs = TIMEOUT_MS) => {
    const gateway = subject.makeGateway(baseUrl, timeoutMs);
    expect(await gateway.submit(request)).to.include({ outcome: 'notTaken' });
    expect(await gateway.query({ ...request, externalRef: null })).to.include({
      outcome: 'noAnswer',
    });
  };

  it('takes a refused connection for not taken', async () => {
    await expectNothingSent(await closedPortUrl());
  });

  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    it(`takes a failed name lookup (${code}) for not taken`, () =>
      withLookup(
        (answer) => answer(Object.assign(new Error(`getaddrinfo ${code}`), { code })),
        () => expectNothingSent('http://gateway.invalid'),
      ));
  }

  it('takes a timeout before there is a connection for not taken', () =>
    withLookup(
      () => {},
      () => expectNothingSent('http://gateway.invalid', SHORT_TIMEOUT_MS),
    ));

  it('takes a failed TLS handshake for not taken', async () => {
    const server = await startLocalServer(() => {});
    await expectNothingSent(server.url.replace('http:', 'https:'));
    await server.close();
  });
}

/** A request that leaves after its deadline may be taken after everybody has stopped waiting. */
function describeDeadline(subject: GatewayUnderTest): void {
  const { makeGateway } = subject;
  const prepare = () => aSubmission('collection', subject.accounts.succeeds);
  let requests = 0;
  let server: LocalServer;

  before(async () => {
    server = await startLocalServer(async (req, res) => {
      await bodyOf(req);
      if (subject.answerPreliminary?.(req, res)) return;
      requests += 1;
      HANGING['does not answer']!(res, req);
    });
  });
  beforeEach(() => {
    requests = 0;
  });
  after(() => server.close());

  it('sends nothing after its deadline', async () => {
    const gateway = makeGateway(server.url, TIMEOUT_MS);
    const result = await gateway.submit({ ...prepare(), deadline: deadlineIn(0) });
    expect(result).to.include({ outcome: 'notTaken' });
    expect(requests).to.equal(0);
  });

  for (const clock of Object.keys(CLOCKS) as Clock[]) {
    it(`sends nothing when it freezes until after its deadline by the ${clock} clock`, () =>
      withFreeze(clock, FROZEN_MS, (freeze) =>
        withLookup(
          (answer) => {
            freeze();
            answer(null, [{ address: '127.0.0.1', family: 4 }]);
          },
          async () => {
            const gateway = makeGateway(
              server.url.replace('127.0.0.1', 'gateway.invalid'),
              TIMEOUT_MS,
            );
            expect(await gateway.submit(prepare())).to.include({ outcome: 'notTaken' });
            expect(requests).to.equal(0);
          },
        ),
      ));
  }

  it('gives up at its deadline, and knows nothing', async () => {
    const gateway = makeGateway(server.url, NEVER_MS);
    const deadline = deadlineIn(SHORT_TIMEOUT_MS);
    expect(await gateway.submit({ ...prepare(), deadline })).to.include({ outcome: 'unknown' });
    expect(requests).to.equal(1);
  });
}

type LookupAnswer = (answer: (error: Error | null, addresses?: LookupAddress[]) => void) => void;

/** Name lookups never leave this process while `run` runs. */
async function withLookup(answerWith: LookupAnswer, run: () => Promise<void>): Promise<void> {
  const original = dns.lookup;
  dns.lookup = ((...args: unknown[]) => {
    const answer = args.at(-1) as Parameters<LookupAnswer>[0];
    process.nextTick(() => answerWith(answer));
  }) as typeof dns.lookup;
  try {
    await run();
  } finally {
    dns.lookup = original;
  }
}

function describeBroken(subject: GatewayUnderTest): void {
  const request = aSubmission('collection', subject.accounts.succeeds);
  let requests = 0;
  let misbehave: Misbehaviour;
  let server: LocalServer;

  before(async () => {
    server = await startLocalServer(async (req, res) => {
      await bodyOf(req);
      if (subject.answerPreliminary?.(req, res)) return;
      requests += 1;
      misbehave(res, req);
    });
  });
  after(() => server.close());

  /** Submits and asks once each, and expects exactly one request for each. */
  async function expectOutcomes(submitted: string, queried: string, timeoutMs = TIMEOUT_MS) {
    const gateway: Gateway = subject.makeGateway(server.url, timeoutMs);
    requests = 0;
    const result = await gateway.submit(request);
    expect(result).to.include({ outcome: submitted });
    expect(JSON.stringify(result)).to.not.contain(request.callbackUrl);
    expect(requests, 'requests').to.equal(1);
    const answer = await gateway.query({ ...request, externalRef: 'EXT-1' });
    expect(answer).to.include({ outcome: queried });
    expect(requests, 'requests').to.equal(2);
  }

  for (const [name, misbehaviour] of Object.entries(MISBEHAVIOURS)) {
    it(`knows nothing from a gateway that ${name}, and asks once`, async () => {
      misbehave = misbehaviour;
      await expectOutcomes('unknown', 'noAnswer');
    });
  }

  for (const [name, misbehaviour] of Object.entries(HANGING)) {
    it(`gives up on a gateway that ${name}, and knows nothing`, async () => {
      misbehave = misbehaviour;
      await expectOutcomes('unknown', 'noAnswer', SHORT_TIMEOUT_MS);
    });
  }

  it('takes 429 for not taken', async () => {
    misbehave = status(429);
    await expectOutcomes('notTaken', 'noAnswer');
  });
}
