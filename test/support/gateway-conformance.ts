import { expect } from 'chai';
import type { Gateway, Verdict } from '../../src/gateways/gateway.ts';
import { describeGatewayCallbacks } from './gateway-callback-conformance.ts';
import { eventually } from './gateway-fixtures.ts';
import { describeGatewayOutages } from './gateway-outage-conformance.ts';
import {
  GatewayStage,
  type GatewayUnderTest,
  KINDS,
  kindsWith,
  TIMEOUT_MS,
} from './gateway-stage.ts';
import { expectFailure, expectSuccess } from './gateway-verdicts.ts';

/** Declares the suite that every gateway driver must pass. */
export function describeGatewayConformance(name: string, subject: GatewayUnderTest): void {
  describe(`gateway driver ${name}`, () => {
    describeItself(subject);
    describeWithItsSimulator(subject);
    describeGatewayOutages(subject);
  });
}

function describeItself({ makeGateway, resubmit }: GatewayUnderTest): void {
  let gateway: Gateway;

  before(() => {
    gateway = makeGateway('http://127.0.0.1:9', TIMEOUT_MS);
  });

  it('states its name, its windows and its amount step', () => {
    expect(gateway.name).to.match(/^[a-z][a-z0-9-]*$/);
    expect(gateway.settlingWindowMs).to.be.at.least(0);
    expect(gateway.answerWindowMs).to.be.at.least(0);
    for (const { minCents, maxCents, stepCents } of Object.values(gateway.amounts)) {
      expect(minCents).to.be.at.least(1).and.at.most(maxCents);
      expect(stepCents).to.be.oneOf([1, 100]);
    }
  });

  it('says truly whether a reference may be submitted again', () => {
    for (const kind of KINDS) expect(gateway.resubmit(kind), kind).to.equal(resubmit[kind]);
  });
}

function describeWithItsSimulator(subject: GatewayUnderTest): void {
  const stage = new GatewayStage(subject);
  before(() => stage.open());
  after(() => stage.close());

  for (const kind of kindsWith(subject, 'succeeds')) {
    it(`acknowledges a ${kind} and then tells the same success by query and callback`, async () => {
      const sent = await stage.send(kind, 'succeeds');
      expectSuccess(await stage.learn(sent), sent.request);
      const [callback] = await stage.callbacks(sent.request);
      expect(callback!.reference).to.be.oneOf([sent.request.reference, null]);
      expectSuccess(callback!.verdict, sent.request);
      expect(await stage.countMovements(sent.request)).to.equal(1);
    });
  }

  for (const kind of kindsWith(subject, 'declined')) {
    it(`declines a ${kind} at once, and no money moves`, async () => {
      const request = await stage.prepare(kind, 'declined');
      const declined = await stage.gateway.submit(request);
      if (declined.outcome !== 'declined') throw new Error(declined.outcome);
      expect(declined.code).to.not.equal(0);
      expect(declined.description).to.be.a('string').that.is.not.empty;
      expect(declined.operatorTrouble ?? null).to.equal(null);
      expect(await stage.countMovements(request)).to.equal(0);
    });
  }

  for (const kind of kindsWith(subject, 'fails')) {
    it(`tells that a ${kind} has failed after its acknowledgement, by query and callback`, async () => {
      const sent = await stage.send(kind, 'fails');
      expectFailure(await stage.learn(sent));
      const [callback] = await stage.callbacks(sent.request);
      expectFailure(callback!.verdict);
      expect(await stage.countMovements(sent.request)).to.equal(0);
    });
  }

  it('says that an open payment is pending and nothing about one never sent', async () => {
    const told = new Set<string>();
    for (const kind of kindsWith(subject, 'staysOpen')) {
      const sent = await stage.send(kind, 'staysOpen');
      const outcome = await eventually(async () => {
        const { result, answer } = await stage.ask(sent);
        told.add(result.outcome);
        // A question without an answer says nothing, and is asked again.
        return result.outcome !== 'noAnswer' && (answer?.verdict ?? result).outcome;
      });
      expect(outcome, kind).to.equal('pending');
    }
    expect(stage.gateway.answerWindowMs > 0, 'answers to wait for').to.equal(told.has('asked'));
    for (const kind of kindsWith(subject, 'succeeds')) {
      const request = await stage.prepare(kind, 'succeeds');
      const { result, answer } = await stage.ask({ request, externalRef: null });
      const outcome = answer?.verdict.outcome ?? result.outcome;
      expect(outcome, kind).to.equal(subject.neverSent?.[kind] ?? 'notFound');
    }
  });

  for (const kind of kindsWith(subject, 'answerLost')) {
    it(`takes a lost answer to a ${kind} for unknown, and the money has moved once`, async () => {
      const request = await stage.prepare(kind, 'answerLost');
      expect(await stage.gateway.submit(request)).to.include({ outcome: 'unknown' });
      const [callback] = await stage.callbacks(request);
      expectSuccess(callback!.verdict, request);
      expect(await stage.countMovements(request)).to.equal(1);
    });
  }

  for (const kind of kindsWith(subject, 'requestLost')) {
    it(`takes a lost ${kind} for unknown, and no money has moved`, async () => {
      const request = await stage.prepare(kind, 'requestLost');
      expect(await stage.gateway.submit(request)).to.include({ outcome: 'unknown' });
      expect(await stage.countMovements(request)).to.equal(0);
    });
  }

  for (const kind of kindsWith(subject, 'busy')) {
    it(`was not given a ${kind} while it was busy, and takes it later`, async () => {
      const { gateway } = stage;
      const request = await stage.prepare(kind, 'busy');
      const turnedAway = await gateway.submit(request);
      expect(turnedAway).to.include({ outcome: 'notTaken' });
      expect(turnedAway).to.have.property('retryAfterMs').that.is.greaterThan(0);
      const pauseMs = gateway.pace?.pauseMs ?? 0;
      expect(pauseMs, 'pause').to.be.greaterThan(0);
      expect(await gateway.submit(request)).to.include({ outcome: 'notTaken' });
      expect(await stage.countMovements(request)).to.equal(0);
      const narrowMs = gateway.pace?.pauseMs ?? 0;
      expect(await gateway.submit(request)).to.include({ outcome: 'acknowledged' });
      expect(gateway.pace?.pauseMs, 'pause').to.be.lessThan(narrowMs);
      await stage.callbacks(request);
      expect(await stage.countMovements(request)).to.equal(1);
    });
  }

  // Of the others no reference is ever submitted again.
  for (const kind of KINDS.filter((each) => subject.resubmit[each] === 'safe')) {
    it(`moves the money of a ${kind} once, however often it is submitted`, async () => {
      const request = await stage.prepare(kind, 'succeeds');
      const answers = await Promise.all([1, 2, 3].map(() => stage.gateway.submit(request)));
      await stage.callbacks(request);
      answers.push(await stage.gateway.submit(request));
      const first = answers.find((each) => 'externalRef' in each && each.externalRef !== null);
      expect(first).to.include({ outcome: 'acknowledged' });
      const repeated = subject.repeats === 'as before' ? first : { ...first, externalRef: null };
      for (const answer of answers.filter((each) => each !== first)) {
        expect(answer).to.deep.equal(repeated);
      }
      expect(await stage.countMovements(request)).to.equal(1);
    });
  }

  it('lists in its statements what it has moved, or has none', async () => {
    const { gateway } = stage;
    if (!gateway.statement) {
      expect(gateway.statementCovers).to.equal(undefined);
      return;
    }
    const start = new Date(Date.now() - 60_000);
    for (const kind of KINDS.filter((each) => gateway.statementCovers?.some((k) => k === each))) {
      const sent = await stage.send(kind, 'succeeds');
      const [callback] = await stage.callbacks(sent.request);
      const { transId } = callback!.verdict as Extract<Verdict, { outcome: 'succeeded' }>;
      const line = await eventually(async () => {
        const answer = await gateway.statement!(start, new Date(Date.now() + 60_000));
        if (answer.outcome !== 'lines') throw new Error(answer.reason);
        return answer.lines.find((each) => each.transId === transId);
      });
      const { account, amountCents } = sent.request;
      expect(line, kind).to.include({ kind, account, amountCents });
    }
  });

  describeGatewayCallbacks(subject, stage);
}
