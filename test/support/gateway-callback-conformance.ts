import { expect } from 'chai';
import fc from 'fast-check';
import { CALLBACK_ADDRESSES, type CallbackOrigin } from '../../src/domain/gateway-results.ts';
import type { CallbackNews } from '../../src/gateways/gateway.ts';
import { eventually } from './gateway-fixtures.ts';
import { type GatewayStage, type GatewayUnderTest, KINDS, kindsWith } from './gateway-stage.ts';
import { expectFailure, expectSuccess } from './gateway-verdicts.ts';

const ORIGINS: readonly CallbackOrigin[] = KINDS.flatMap((kind) =>
  CALLBACK_ADDRESSES.map((address) => ({ address, kind })),
);

/** The part of the conformance suite about what comes to our addresses, and when. */
export function describeGatewayCallbacks(subject: GatewayUnderTest, stage: GatewayStage): void {
  describeDelivery(subject, stage);
  describeContents(subject, stage);
  describeStrangers(subject, stage);
}

function describeDelivery(subject: GatewayUnderTest, stage: GatewayStage): void {
  for (const kind of kindsWith(subject, 'callbackLost')) {
    it(`tells by query how a ${kind} ended whose callback was lost`, async () => {
      const sent = await stage.send(kind, 'callbackLost');
      expectSuccess(await stage.learn(sent), sent.request);
      expect(stage.bodiesAt(sent.request)).to.deep.equal([]);
    });
  }

  for (const kind of kindsWith(subject, 'callbackTwice')) {
    it(`tells the same twice in the two callbacks of a ${kind}`, async () => {
      const { request } = await stage.send(kind, 'callbackTwice');
      const [first, second] = await stage.callbacks(request, 2);
      expect(second).to.deep.equal(first);
      expectSuccess(first!.verdict, request);
      expect(await stage.countMovements(request)).to.equal(1);
    });
  }

  for (const kind of kindsWith(subject, 'callbackEarly')) {
    it(`tells the success of a ${kind} also before its acknowledgement`, async () => {
      const { request } = await stage.send(kind, 'callbackEarly');
      const [early] = stage.heard(request);
      expectSuccess(early!.verdict, request);
    });
  }

  for (const kind of kindsWith(subject, 'failsThenSucceeds')) {
    it(`tells of a ${kind} that it failed, and then that it succeeded`, async () => {
      const { request } = await stage.send(kind, 'failsThenSucceeds');
      const [first, second] = await stage.callbacks(request, 2);
      expectFailure(first!.verdict);
      expectSuccess(second!.verdict, request);
    });
  }

  for (const kind of kindsWith(subject, 'queueTimeout')) {
    it(`says nothing of a ${kind} that was not processed in time, and its success later`, async () => {
      const { request } = await stage.send(kind, 'queueTimeout');
      await eventually(() => stage.bodiesAt(request, 'timeout')[0]);
      const [late] = stage.heard(request, 'timeout');
      expect(late!.verdict).to.deep.equal({ outcome: 'pending' });
      const [callback] = await stage.callbacks(request);
      expectSuccess(callback!.verdict, request);
    });
  }
}

function describeContents(subject: GatewayUnderTest, stage: GatewayStage): void {
  for (const kind of kindsWith(subject, 'anotherAmount')) {
    it(`tells the amount that a ${kind} has moved, which may be another`, async () => {
      const { request } = await stage.send(kind, 'anotherAmount');
      const [callback] = await stage.callbacks(request);
      const { verdict } = callback!;
      if (verdict.outcome !== 'succeeded') throw new Error(verdict.outcome);
      expect(verdict.amountCents).to.be.greaterThan(0).and.not.equal(request.amountCents);
    });
  }

  for (const kind of kindsWith(subject, 'unknownCode')) {
    it(`does not guess what an unknown code means for a ${kind}`, async () => {
      const sent = await stage.send(kind, 'unknownCode');
      const [callback] = await stage.callbacks(sent.request);
      const { verdict } = callback!;
      if (verdict.outcome !== 'unclear') throw new Error(verdict.outcome);
      const { result } = await stage.ask(sent);
      if (result.outcome === 'asked') return;
      expect(result).to.include({ outcome: 'noAnswer', unknownCode: verdict.code });
    });
  }

  for (const kind of kindsWith(subject, 'operatorTrouble')) {
    it(`tells the operator alone why a ${kind} failed by the operator’s own trouble`, async () => {
      const { request } = await stage.send(kind, 'operatorTrouble');
      const [callback] = await stage.callbacks(request);
      const { operatorTrouble, description } = expectFailure(callback!.verdict);
      expect(operatorTrouble).to.be.a('string').that.is.not.empty;
      expect(description).to.not.include(operatorTrouble);
    });
  }

  for (const kind of kindsWith(subject, 'succeeds')) {
    it(`names in the callbacks of a ${kind} this one and no other, each with its receipt`, async () => {
      const sent = [await stage.send(kind, 'succeeds'), await stage.send(kind, 'succeeds')];
      const names = await Promise.all(
        sent.map(async ({ request, externalRef }) => {
          const [callback] = await stage.callbacks(request);
          const { reference, verdict } = callback!;
          const told = expectSuccess(verdict, request);
          const isNamed = reference === request.reference || told.externalRef === externalRef;
          expect(isNamed, JSON.stringify(callback)).to.equal(true);
          return [reference, told.externalRef, told.transId];
        }),
      );
      for (const [index, name] of names[0]!.entries()) {
        if (name !== null) expect(name).to.not.equal(names[1]![index]);
      }
    });
  }
}

function describeStrangers(subject: GatewayUnderTest, stage: GatewayStage): void {
  it('reads no other definite word in a callback at another address or about another kind', async () => {
    for (const kind of kindsWith(subject, 'succeeds')) {
      const { request } = await stage.send(kind, 'succeeds');
      const [callback] = await stage.callbacks(request);
      const [body] = stage.bodiesAt(request);
      for (const origin of ORIGINS.filter(
        (each) => each.address !== 'result' || each.kind !== kind,
      )) {
        const news = stage.gateway.parseCallback(body!, origin)?.verdict;
        if (!news || !isDefinite(news)) continue;
        const { outcome } = callback!.verdict;
        expect(news, `${kind} at ${JSON.stringify(origin)}`).to.include({ outcome });
      }
    }
  });

  it('finds nothing in a body that is no callback, and never throws', () => {
    const { parseCallback } = stage.gateway;
    for (const origin of ORIGINS) {
      for (const body of GARBAGE) {
        expect(parseCallback(body, origin), body.slice(0, 20)).to.equal(null);
      }
      fc.assert(fc.property(fc.string(), (text) => parseCallback(text, origin) === null));
      fc.assert(fc.property(fc.json(), (text) => parseCallback(text, origin) === null));
    }
  });
}

function isDefinite({ outcome }: CallbackNews): boolean {
  return outcome === 'succeeded' || outcome === 'failed';
}

const GARBAGE = [
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
