import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import type {
  Gateway,
  GatewayPaymentKind,
  QueryResult,
  SubmitRequest,
  Verdict,
} from '../../src/gateways/gateway.ts';
import {
  aSubmission,
  type CallbackReceiver,
  eventually,
  type LocalServer,
  startCallbackReceiver,
} from './gateway-fixtures.ts';
import { describeGatewayOutages } from './gateway-outage-conformance.ts';

/** What a driver brings along to be put through the suite. */
export interface GatewayUnderTest {
  /** What its driver must say of references. */
  resubmit: Readonly<Partial<Record<GatewayPaymentKind, 'safe' | 'never'>>>;
  /** A driver that talks to this address: a simulator's, a closed port's or a broken server's. */
  makeGateway(baseUrl: string, timeoutMs: number): Gateway;
  /** The provider's own simulator. */
  startSimulator(): Promise<RunningSimulator>;
  /** Accounts for which the simulator plays a part. */
  accounts: {
    succeeds: string;
    declined: string;
    fails: string;
    /** Has no outcome before the suite is through. */
    staysOpen: string;
    /** The request is taken and succeeds, but the answer to it is lost. */
    answerLost: string;
  };
  /** What the provider can say about a reference that was never sent; by default `notFound`. */
  unknownReference?: QueryResult['outcome'];
  /**
   * Answers what a driver must ask before the request in question (a token, say), so that
   * broken servers break on the latter. Returns whether it has answered.
   */
  answerPreliminary?(req: IncomingMessage, res: ServerResponse): boolean;
}

export interface RunningSimulator extends LocalServer {
  /** How many movements of money it has made for a reference. */
  countMovements(reference: string): Promise<number>;
}

const RESULT = { address: 'result', kind: 'collection' } as const;
const KINDS: GatewayPaymentKind[] = ['collection', 'return'];
const TIMEOUT_MS = 5_000;

/** Declares the suite that every gateway driver must pass. */
export function describeGatewayConformance(name: string, subject: GatewayUnderTest): void {
  describe(`gateway driver ${name}`, () => {
    describeItself(subject);
    describeWithItsSimulator(subject);
    describeGatewayOutages(subject);
    describeGarbageCallbacks(subject);
  });
}

function describeItself({ makeGateway }: GatewayUnderTest): void {
  it('states its name, its windows and its amount step', () => {
    const gateway = makeGateway('http://127.0.0.1:9', TIMEOUT_MS);
    expect(gateway.name).to.match(/^[a-z][a-z0-9-]*$/);
    expect(gateway.settlingWindowMs).to.be.at.least(0);
    expect(gateway.answerWindowMs).to.be.at.least(0);
    for (const { minCents, maxCents, stepCents } of Object.values(gateway.amounts)) {
      expect(minCents).to.be.at.least(1).and.at.most(maxCents);
      expect(stepCents).to.be.oneOf([1, 100]);
    }
  });
}

function describeWithItsSimulator(subject: GatewayUnderTest): void {
  const { accounts } = subject;
  let simulator: RunningSimulator;
  let receiver: CallbackReceiver;
  let gateway: Gateway;

  before(async () => {
    simulator = await subject.startSimulator();
    receiver = await startCallbackReceiver();
    gateway = subject.makeGateway(simulator.url, TIMEOUT_MS);
  });
  after(async () => {
    await simulator.close();
    await receiver.close();
  });

  const prepare = (kind: GatewayPaymentKind, account: string) => {
    const request = aSubmission(kind, account);
    return { ...request, callbackUrl: receiver.urlFor(request.reference) };
  };

  for (const kind of KINDS) {
    it(`acknowledges a ${kind} and then tells the same success by query and callback`, async () => {
      const request = prepare(kind, accounts.succeeds);
      const result = await gateway.submit(request);
      if (result.outcome !== 'acknowledged') throw new Error(result.outcome);
      const verdict = await verdictOf(gateway, receiver, request, result.externalRef);
      expectSuccess(verdict, request);
      const body = await eventually(() => receiver.bodiesOf(request.reference)[0]);
      const callback = gateway.parseCallback(body, { address: 'result', kind: request.kind });
      expect(callback?.reference).to.be.oneOf([request.reference, null]);
      expectSuccess(callback?.verdict as Verdict, request);
      expect(await simulator.countMovements(request.reference)).to.equal(1);
    });
  }

  it('tells a decline from a failure that follows later', async () => {
    const declined = await gateway.submit(prepare('collection', accounts.declined));
    if (declined.outcome !== 'declined') throw new Error(declined.outcome);
    expect(declined.code).to.not.equal(0);
    expect(declined.description).to.be.a('string').that.is.not.empty;

    const request = prepare('collection', accounts.fails);
    const result = await gateway.submit(request);
    if (result.outcome !== 'acknowledged') throw new Error(result.outcome);
    const verdict = await verdictOf(gateway, receiver, request, result.externalRef);
    if (verdict.outcome !== 'failed') throw new Error(verdict.outcome);
    expect(verdict.code).to.not.equal(0);
    expect(await simulator.countMovements(request.reference)).to.equal(0);
  });

  it('says that an open payment is pending and nothing about one never sent', async () => {
    const request = prepare('collection', accounts.staysOpen);
    const result = await gateway.submit(request);
    if (result.outcome !== 'acknowledged') throw new Error(result.outcome);
    const open = await gateway.query({ ...request, externalRef: result.externalRef });
    expect(open.outcome).to.be.oneOf(['pending', 'asked']);
    const hasWindow = gateway.answerWindowMs > 0;
    expect(hasWindow, 'an answer to wait for').to.equal(open.outcome === 'asked');
    const other = prepare('collection', accounts.succeeds);
    const unknown = await gateway.query({ ...other, externalRef: null });
    expect(unknown.outcome).to.equal(subject.unknownReference ?? 'notFound');
  });

  it('takes a lost answer for unknown, and the money has moved once', async () => {
    const request = prepare('collection', accounts.answerLost);
    expect(await gateway.submit(request)).to.include({ outcome: 'unknown' });
    await eventually(async () => (await simulator.countMovements(request.reference)) > 0);
    await eventually(() => receiver.bodiesOf(request.reference)[0]);
    expect(await simulator.countMovements(request.reference)).to.equal(1);
  });

  it('says truly whether a reference may be submitted again', () => {
    for (const [kind, rule] of Object.entries(subject.resubmit)) {
      expect(gateway.resubmit(kind as GatewayPaymentKind), kind).to.equal(rule);
    }
  });

  // Of the others no reference is ever submitted again.
  if (subject.resubmit.collection === 'never') return;

  it('moves the money of a reference once, however often it is submitted', async () => {
    const request = prepare('collection', accounts.succeeds);
    const answers = await Promise.all([1, 2, 3].map(() => gateway.submit(request)));
    await eventually(() => receiver.bodiesOf(request.reference)[0]);
    answers.push(await gateway.submit(request));
    expect(answers[0]).to.include({ outcome: 'acknowledged' });
    for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
    expect(await simulator.countMovements(request.reference)).to.equal(1);
  });
}

/** Asks until there is a verdict, be it in the answer or in a callback that follows. */
async function verdictOf(
  gateway: Gateway,
  receiver: CallbackReceiver,
  request: SubmitRequest,
  externalRef: string | null,
): Promise<Verdict> {
  return eventually(async () => {
    const result = await gateway.query({ ...request, externalRef });
    if (result.outcome === 'succeeded' || result.outcome === 'failed') return result;
    if (result.outcome === 'pending') return undefined;
    if (result.outcome !== 'asked') throw new Error(`Unexpected ${result.outcome}`);
    const parsed = receiver
      .bodiesOf(request.reference)
      .map((body) => gateway.parseCallback(body, { address: 'result', kind: request.kind }));
    const verdict = parsed
      .map((each) => each?.verdict)
      .find((each) => each && each.outcome !== 'pending');
    return verdict as Verdict | undefined;
  });
}

function expectSuccess(verdict: Verdict, request: SubmitRequest): void {
  if (verdict?.outcome !== 'succeeded') throw new Error(verdict?.outcome);
  expect(verdict.amountCents).to.be.oneOf([request.amountCents, null]);
  expect(verdict.account).to.be.oneOf([request.account, null]);
  if (verdict.transId !== null) expect(verdict.transId).to.match(/^[A-Z0-9]{10}$/);
  if (verdict.completedAt !== null) expect(verdict.completedAt.getTime()).to.be.at.most(Date.now());
}

function describeGarbageCallbacks({ makeGateway }: GatewayUnderTest): void {
  const { parseCallback } = makeGateway('http://127.0.0.1:9', TIMEOUT_MS);
  const garbage = [
    '',
    ' ',
    'null',
    '[]',
    '{}',
    '0',
    '"text"',
    '<html></html>',
    '{"status":',
    '['.repeat(100_000),
  ];

  it('finds nothing in a body that is no callback, and never throws', () => {
    for (const body of garbage)
      expect(parseCallback(body, RESULT), body.slice(0, 20)).to.equal(null);
    fc.assert(fc.property(fc.string(), (text) => parseCallback(text, RESULT) === null));
    fc.assert(fc.property(fc.json(), (text) => parseCallback(text, RESULT) === null));
  });
}
