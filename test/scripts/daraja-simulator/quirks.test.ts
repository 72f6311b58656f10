import { expect } from 'chai';
import { QUIRKS, type Quirk } from '../../../scripts/daraja-simulator/quirks.ts';
import { MINUTE_MS } from '../../../src/time.ts';
import { eventually } from '../../support/gateway-fixtures.ts';
import { BASIC, type Caller, PATHS, phoneOf, seenAs, startCaller } from './daraja-caller.ts';

const SLOW_ANSWER_MS = 300;

describe('Daraja simulator: quirks', () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller({ slowAnswerMs: SLOW_ANSWER_MS });
  });
  after(() => caller.close());
  afterEach(async () => {
    await caller.call('POST', '/faults', { quirks: {}, for_ms: 0 });
    await caller.renewToken();
  });

  const bodyTo = (phone: string) => caller.bodies.b2c(phone, phone);
  const pay = (phone: string) => caller.post(PATHS.b2c, bodyTo(phone));
  const hasMoved = async (phone: string) =>
    (await caller.statement()).some(({ account }) => account === `+${phone}`);
  /** Ends when a payment that began later has ended. */
  const waitForLaterPayment = async () => {
    await caller.setQuirks({});
    await caller.renewToken();
    const phone = phoneOf('000');
    await pay(phone);
    await caller.callbacks(phone);
  };

  const ANSWERS: [quirk: Quirk, seen: string, isTaken: boolean][] = [
    ['htmlPage', '200', true],
    ['unavailable', '503', true],
    ['resetAfterTaking', 'lost', true],
    ['resetBeforeTaking', 'lost', false],
    ['firewall', '403', false],
    ['spikeArrest', '500.003.02', false],
    ['tokenExpired', '401.002.01', false],
  ];

  for (const [quirk, seen, isTaken] of ANSWERS) {
    it(`${quirk}: is seen as ${seen}, and the payment is ${isTaken ? 'taken' : 'not taken'}`, async () => {
      await caller.setQuirks({ [quirk]: 1 });
      const phone = phoneOf('000');
      const body = bodyTo(phone);
      expect(await seenAs(caller.post(PATHS.b2c, body))).to.equal(seen);
      await waitForLaterPayment();
      expect(await hasMoved(phone)).to.equal(isTaken);
      const again = await seenAs(caller.post(PATHS.b2c, body));
      expect(again).to.equal(isTaken ? '500.002.1001' : 'taken');
    });
  }

  it('answers with pages where it does not answer in JSON, and with nothing in a 503', async () => {
    for (const quirk of ['htmlPage', 'firewall'] as const) {
      await caller.setQuirks({ [quirk]: 1 });
      expect((await pay(phoneOf('000'))).text).to.match(/^<html>/);
    }
    await caller.setQuirks({ unavailable: 1 });
    expect((await pay(phoneOf('000'))).text).to.equal('');
  });

  it('tokenExpired: works again with a new token', async () => {
    await caller.setQuirks({ tokenExpired: 1 });
    expect(await seenAs(pay(phoneOf('000')))).to.equal('401.002.01');
    await caller.setQuirks({});
    expect(await seenAs(pay(phoneOf('000')))).to.equal('401.002.01');
    await caller.renewToken();
    expect(await seenAs(pay(phoneOf('000')))).to.equal('taken');
  });

  it('tokenRefused: answers 400 with an empty body to the request for a token', async () => {
    await caller.setQuirks({ tokenRefused: 1 });
    const path = '/oauth/v1/generate?grant_type=client_credentials';
    const answer = await caller.call('GET', path, undefined, { authorization: BASIC });
    expect([answer.status, answer.text]).to.deep.equal([400, '']);
  });

  it('subscriberLocked: refuses an STK push, and no money moves', async () => {
    await caller.setQuirks({ subscriberLocked: 1 });
    const phone = phoneOf('000');
    const answer = await caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, phone));
    expect(answer.status).to.equal(500);
    expect(answer.body.errorMessage).to.match(/^Unable to lock subscriber/);
    await waitForLaterPayment();
    expect(await hasMoved(phone)).to.equal(false);
  });

  it('callbackLost: moves the money and says nothing', async () => {
    await caller.setQuirks({ callbackLost: 1 });
    const phone = phoneOf('000');
    await pay(phone);
    await eventually(() => hasMoved(phone));
    await waitForLaterPayment();
    expect(caller.receiver.bodiesOf(phone)).to.deep.equal([]);
  });

  it('callbackDoubled: says the same twice', async () => {
    await caller.setQuirks({ callbackDoubled: 1 });
    const phone = phoneOf('000');
    await pay(phone);
    const [first, second] = await caller.callbacks(phone, 2);
    expect(second).to.deep.equal(first);
  });

  it('slowAnswer: answers after the callback', async () => {
    await caller.setQuirks({ slowAnswer: 1 });
    const phone = phoneOf('000');
    const answer = pay(phone).then(() => caller.receiver.bodiesOf(phone).length);
    expect(await answer).to.equal(1);
  });

  it('hits some and not all at a rate in between, from the start if it is told so', async () => {
    const shaky = await startCaller({ quirks: { spikeArrest: 0.5 } });
    const seen = new Set<string>();
    await eventually(async () => {
      const phone = phoneOf('000');
      seen.add(await seenAs(shaky.post(PATHS.b2c, shaky.bodies.b2c(phone, phone))));
      return seen.size === 2;
    });
    expect([...seen].sort()).to.deep.equal(['500.003.02', 'taken']);
    await shaky.close();
  });

  it('refuses rates that it does not understand, and leaves the others as they are', async () => {
    await caller.setQuirks({ spikeArrest: 1 });
    for (const quirks of [null, [], 'all', { spikeArrest: 2 }, { firewall: '1' }, { fire: 1 }]) {
      const answer = await caller.call('POST', '/faults', { quirks });
      expect(answer.status, JSON.stringify(quirks)).to.equal(400);
    }
    expect(await seenAs(pay(phoneOf('000')))).to.equal('500.003.02');
    const all = Object.fromEntries(QUIRKS.map((quirk) => [quirk, 0]));
    expect((await caller.setQuirks(all)).body).to.deep.equal({ quirks: all });
  });

  describe('faults of the other simulator', () => {
    for (const [mode, seen, isTaken] of [
      ['outage', 'lost', false],
      ['errors', '500', false],
      ['slow', 'taken', true],
    ] as const) {
      it(`${mode}: is seen as ${seen}`, async () => {
        await caller.call('POST', '/faults', { mode, for_ms: MINUTE_MS });
        const phone = phoneOf('000');
        expect(await seenAs(pay(phone))).to.equal(seen);
        await caller.call('POST', '/faults', { for_ms: 0 });
        await waitForLaterPayment();
        expect(await hasMoved(phone)).to.equal(isTaken);
      });
    }

    it('cuts requests for tokens off too', async () => {
      await caller.call('POST', '/faults', { mode: 'outage', for_ms: MINUTE_MS });
      const isCut = await caller.renewToken().then(
        () => false,
        () => true,
      );
      expect(isCut).to.equal(true);
    });
  });
});
