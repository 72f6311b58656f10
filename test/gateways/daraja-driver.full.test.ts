import { expect } from 'chai';
import type { QuirkRates } from '../../scripts/daraja-simulator/quirks.ts';
import type { DarajaSimulator } from '../../scripts/daraja-simulator/server.ts';
import type { Gateway, GatewayPaymentKind, SubmitRequest } from '../../src/gateways/gateway.ts';
import { MINUTE_MS } from '../../src/time.ts';
import {
  ageTokens,
  closeTokenStore,
  daraja,
  makeDarajaGateway,
  openTokenStore,
  receiptsAt,
  startDaraja,
} from '../support/daraja-under-test.ts';
import { withFreeze } from '../support/frozen.ts';
import { describeGatewayConformance } from '../support/gateway-conformance.ts';
import {
  aSubmission,
  bodyOf,
  eventually,
  startCallbackReceiver,
  startLocalServer,
} from '../support/gateway-fixtures.ts';

const TIMEOUT_MS = 10_000;
const SLOW_ANSWER_MS = 1_500;
const SHORT_TIMEOUT_MS = 500;
const EIGHT = Array.from({ length: 8 }, (_, index) => index);
/** A reversal goes the same way, but needs a receipt. */
const KINDS: GatewayPaymentKind[] = ['collection', 'payout'];

describe('With tokens in a database', () => {
  before(openTokenStore);
  after(closeTokenStore);

  describeGatewayConformance('daraja', daraja);

  describe('Daraja and its driver', () => {
    let simulator: DarajaSimulator;
    let gateway: Gateway;
    let customers = 0;

    beforeEach(async () => {
      simulator = await startDaraja({ slowAnswerMs: SLOW_ANSWER_MS });
      gateway = makeDarajaGateway(simulator.url, TIMEOUT_MS);
    });
    afterEach(() => simulator.close());

    const prepare = (kind: GatewayPaymentKind): SubmitRequest => {
      customers += 1;
      return aSubmission(kind, `+2547${String(customers).padStart(5, '0')}000`);
    };

    it('give each call a connection of its own, so that no call dies with a kept one', async () => {
      const callers: (number | undefined)[] = [];
      const server = await startLocalServer(async (req, res) => {
        callers.push(req.socket.remotePort);
        await bodyOf(req);
        const isToken = req.method === 'GET';
        res.end(JSON.stringify(isToken ? { access_token: 'token', expires_in: '3599' } : {}));
      });
      const other = makeDarajaGateway(server.url, TIMEOUT_MS);
      for (const kind of KINDS) await other.submit(prepare(kind));
      await server.close();
      expect(callers).to.have.length(3);
      expect(new Set(callers).size).to.equal(3);
    });

    const receiptsOf = (request: SubmitRequest) => receiptsAt(simulator.url, request);

    const always = (quirk: keyof QuirkRates) =>
      fetch(`${simulator.url}/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ quirks: { [quirk]: 1 } }),
      });

    const counts = async () =>
      (await (await fetch(`${simulator.url}/counts`)).json()) as Record<string, number>;
    const tokensGiven = async () => (await counts())['/oauth/v1/generate'];

    for (const quirk of ['htmlPage', 'unavailable', 'resetAfterTaking'] as const) {
      it(`know nothing when the answer to what was taken is replaced (${quirk})`, async () => {
        await always(quirk);
        for (const kind of KINDS) {
          const request = prepare(kind);
          expect(await gateway.submit(request), kind).to.include({ outcome: 'unknown' });
          const receipts = await eventually(async () => {
            const found = await receiptsOf(request);
            return found.length > 0 && found;
          });
          expect(receipts, kind).to.have.length(1);
        }
      });
    }

    it('know nothing of an answer that comes too late, and the money moves once', async () => {
      await gateway.submit(prepare('payout'));
      await always('slowAnswer');
      const impatient = makeDarajaGateway(simulator.url, SHORT_TIMEOUT_MS);
      for (const kind of KINDS) {
        const request = prepare(kind);
        expect(await impatient.submit(request), kind).to.include({ outcome: 'unknown' });
        await eventually(async () => (await receiptsOf(request)).length === 1);
      }
    });

    for (const quirk of ['resetBeforeTaking', 'firewall'] as const) {
      it(`know nothing when the request is not processed and nobody says so (${quirk})`, async () => {
        await always(quirk);
        for (const kind of KINDS) {
          const request = prepare(kind);
          expect(await gateway.submit(request), kind).to.include({ outcome: 'unknown' });
          expect(await receiptsOf(request), kind).to.deep.equal([]);
        }
      });
    }

    it('send a prompt later to a customer who has another one open', async () => {
      await always('subscriberLocked');
      const request = prepare('collection');
      expect(await gateway.submit(request)).to.include({ outcome: 'notTaken' });
    });

    it('have no answer when Daraja forgets for a moment how a prompt has ended', async () => {
      const request = prepare('collection');
      const sent = await gateway.submit(request);
      if (sent.outcome !== 'acknowledged') throw new Error(sent.outcome);
      const question = { ...request, externalRef: sent.externalRef };
      await eventually(async () => (await gateway.query(question)).outcome === 'succeeded');
      await always('queryFlap');
      for (const _ of EIGHT) {
        expect((await gateway.query(question)).outcome).to.equal('noAnswer');
      }
    });

    it('take the payment once when the token ends in the middle of a call', async () => {
      await gateway.submit(prepare('payout'));
      for (const kind of KINDS) {
        await ageTokens();
        const request = prepare(kind);
        const before = await tokensGiven();
        await fetch(`${simulator.url}/oauth/v1/generate?grant_type=client_credentials`, {
          headers: { authorization: `Basic ${btoa('key:secret')}` },
        });
        expect(await gateway.submit(request), kind).to.include({ outcome: 'acknowledged' });
        expect(await tokensGiven(), 'another one’s and ours').to.equal(before! + 2);
        await eventually(async () => (await receiptsOf(request)).length === 1);
      }
    });

    it('are not called while every token is refused, and one request for a token is made', async () => {
      await always('tokenExpired');
      const request = prepare('payout');
      expect(await gateway.submit(request)).to.include({ outcome: 'notTaken' });
      expect(await gateway.submit(request)).to.include({ outcome: 'notTaken' });
      expect(await tokensGiven()).to.equal(1);
      expect(await receiptsOf(request)).to.deep.equal([]);
    });

    // Eight processes do so in the tests of tokens.
    it('need one token for eight drivers that begin together', async () => {
      const requests = EIGHT.map(() => prepare('payout'));
      const results = await Promise.all(
        requests.map((each) => makeDarajaGateway(simulator.url, TIMEOUT_MS).submit(each)),
      );
      for (const result of results) expect(result).to.include({ outcome: 'acknowledged' });
      expect(await tokensGiven()).to.equal(1);
    });

    for (const minutes of [5, -5]) {
      it(`understand each other when their clocks are ${minutes} minutes apart`, () =>
        withFreeze('wall', minutes * MINUTE_MS, async (change) => {
          await gateway.submit(prepare('collection'));
          change();
          const request = prepare('collection');
          const sent = await gateway.submit(request);
          if (sent.outcome !== 'acknowledged') throw new Error(JSON.stringify(sent));
          const question = { ...request, externalRef: sent.externalRef };
          await eventually(async () => (await gateway.query(question)).outcome === 'succeeded');
          expect(await tokensGiven()).to.equal(1);
        }));
    }

    it('tell the operator, and not the merchant, of a clock that is too far off', () =>
      withFreeze('wall', 15 * MINUTE_MS, async (change) => {
        change();
        const result = await gateway.submit(prepare('collection'));
        if (result.outcome !== 'declined') throw new Error(result.outcome);
        expect(result.operatorTrouble).to.include('Timestamp');
        expect(result.description).to.not.include('Timestamp');
      }));

    it('tell by callback what the float is', async () => {
      const receiver = await startCallbackReceiver();
      const urlOf = (address: 'answer' | 'timeout') => receiver.urlFor('float', address);
      const problem = await gateway.float!.ask(urlOf('answer'), urlOf('timeout'));
      expect(problem).to.equal(null);
      const body = await eventually(() => receiver.bodiesOf('float', 'answer')[0]);
      const told = gateway.float!.read(body)!;
      expect(told.map(({ sub_account }) => sub_account)).to.include('utility');
      for (const { available_cents } of told) expect(available_cents).to.be.a('number');
      await receiver.close();
    });
  });
});
