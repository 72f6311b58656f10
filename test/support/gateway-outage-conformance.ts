import dns, { type LookupAddress } from 'node:dns';
import { expect } from 'chai';
import type { GatewayPaymentKind, SubmitRequest } from '../../src/gateways/gateway.ts';
import { deadlineIn } from '../../src/time.ts';
import { HANGING, MISBEHAVIOURS, type Misbehaviour, status } from './broken-servers.ts';
import { CLOCKS, type Clock, withFreeze } from './frozen.ts';
import {
  aSubmission,
  bodyOf,
  closedPortUrl,
  type LocalServer,
  startLocalServer,
} from './gateway-fixtures.ts';
import { type GatewayUnderTest, KINDS } from './gateway-stage.ts';

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

const ACCOUNT = '+254700000000';
/** The gateway has acknowledged what is asked about. */
const EXTERNAL_REF = 'EXT-1';

const requestsOfAllKinds = (): SubmitRequest[] => KINDS.map((kind) => aSubmission(kind, ACCOUNT));

function describeUnreachable(subject: GatewayUnderTest): void {
  const expectNothingSent = async (baseUrl: string, timeoutMs = TIMEOUT_MS) => {
    for (const request of requestsOfAllKinds()) {
      const { kind } = request;
      const gateway = subject.makeGateway(baseUrl, timeoutMs);
      expect(await gateway.submit(request), kind).to.include({ outcome: 'notTaken' });
      const answer = await gateway.query({ ...request, externalRef: EXTERNAL_REF });
      expect(answer, kind).to.include({ outcome: 'noAnswer' });
    }
  };

  it('takes a refused connection for not taken', async () => {
    await expectNothingSent(await closedPortUrl());
  });

  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    it(`takes a failed name lookup (${code}) for not taken`, () =>
      withLookup(
        (answer) => answer(Object.assign(new Error(`getaddrinfo ${code}`), { code })),
        () => expectNothingSent(`http://${code.toLowerCase()}.invalid`),
      ));
  }

  it('takes a timeout before there is a connection for not taken', () =>
    withLookup(
      () => {},
      () => expectNothingSent('http://timeout.invalid', SHORT_TIMEOUT_MS),
    ));

  it('takes a failed TLS handshake for not taken', async () => {
    const server = await startLocalServer(() => {});
    await expectNothingSent(server.url.replace('http:', 'https:'));
    await server.close();
  });

  if (!subject.answerPreliminary) return;

  it('takes a refused connection for not taken also after what it must ask before', async () => {
    for (const request of requestsOfAllKinds()) {
      const server = await startLocalServer((req, res) => {
        if (subject.answerPreliminary!(req, res)) res.on('finish', () => void server.close());
      });
      const gateway = subject.makeGateway(server.url, TIMEOUT_MS);
      const result = await gateway.submit(request);
      expect(result, request.kind).to.include({ outcome: 'notTaken' });
      expect(JSON.stringify(result)).to.include('ECONNREFUSED');
    }
  });
}

/** A request that leaves after its deadline may be taken after everybody has stopped waiting. */
function describeDeadline(subject: GatewayUnderTest): void {
  const { makeGateway } = subject;
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
    for (const request of requestsOfAllKinds()) {
      const gateway = makeGateway(server.url, TIMEOUT_MS);
      const result = await gateway.submit({ ...request, deadline: deadlineIn(0) });
      expect(result, request.kind).to.include({ outcome: 'notTaken' });
    }
    expect(requests).to.equal(0);
  });

  for (const clock of Object.keys(CLOCKS) as Clock[]) {
    it(`sends nothing when it freezes until after its deadline by the ${clock} clock`, async () => {
      for (const kind of KINDS) await expectNothingAfterFreeze(clock, kind);
      expect(requests).to.equal(0);
    });
  }

  /** Freezes while it looks up the address for the request itself. */
  async function expectNothingAfterFreeze(clock: Clock, kind: GatewayPaymentKind) {
    let isNext = !subject.answerPreliminary;
    await withFreeze(clock, FROZEN_MS, (freeze) =>
      withLookup(
        (answer) => {
          if (isNext) freeze();
          isNext = true;
          answer(null, [{ address: '127.0.0.1', family: 4 }]);
        },
        async () => {
          // A name of its own, for which nothing has been asked before.
          const url = server.url.replace('127.0.0.1', `${kind}-${clock}.invalid`);
          const gateway = makeGateway(url, TIMEOUT_MS);
          const result = await gateway.submit(aSubmission(kind, ACCOUNT));
          expect(result, kind).to.include({ outcome: 'notTaken' });
        },
      ),
    );
  }

  it('gives up at its deadline, and knows nothing', async () => {
    const results = requestsOfAllKinds().map((request) =>
      makeGateway(server.url, NEVER_MS).submit({
        ...request,
        deadline: deadlineIn(SHORT_TIMEOUT_MS),
      }),
    );
    for (const result of await Promise.all(results)) {
      expect(result).to.include({ outcome: 'unknown' });
    }
    expect(requests).to.equal(KINDS.length);
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
    requests = 0;
    const calls = requestsOfAllKinds().map(async (request) => {
      const gateway = subject.makeGateway(server.url, timeoutMs);
      const result = await gateway.submit(request);
      expect(result, request.kind).to.include({ outcome: submitted });
      const said = JSON.stringify(result);
      expect(said).to.not.contain(request.callbackUrl).and.not.contain(request.timeoutUrl);
      const answer = await gateway.query({ ...request, externalRef: EXTERNAL_REF });
      expect(answer, request.kind).to.include({ outcome: queried });
    });
    await Promise.all(calls);
    expect(requests, 'requests').to.equal(2 * KINDS.length);
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
