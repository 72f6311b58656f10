import { expect } from 'chai';
import { MINUTE_MS } from '../../../src/time.ts';
import { eventually } from '../../support/gateway-fixtures.ts';
import {
  type Caller,
  type Json,
  PATHS,
  phoneOf,
  resultOf,
  seenAs,
  startCaller,
  stkCallbackOf,
} from './daraja-caller.ts';

interface Row {
  part: string;
  /** What the sender sees, in order. A request that was lost or refused goes again. */
  seen: string[];
  /** Of the 100.00 asked for; null when none moves. */
  moved: string | null;
}

const NORMAL = ['taken', 'callback 0'];

/** These parts disturb the messages of every kind. */
const DELIVERIES: Row[] = [
  { part: '000', moved: '100.00', seen: NORMAL },
  { part: '101', moved: '100.00', seen: ['taken'] },
  { part: '102', moved: '100.00', seen: [...NORMAL, 'callback 0'] },
  { part: '103', moved: '100.00', seen: ['callback 0', 'taken'] },
  { part: '105', moved: '100.00', seen: ['lost', ...NORMAL] },
  { part: '106', moved: '100.00', seen: ['500.003.02', '500.003.02', ...NORMAL] },
  { part: '108', moved: '100.00', seen: NORMAL },
];

const COLLECTIONS: Row[] = [
  ...DELIVERIES,
  { part: '001', moved: null, seen: ['taken', 'callback 1'] },
  { part: '032', moved: null, seen: ['taken', 'callback 1032'] },
  { part: '037', moved: null, seen: ['taken', 'callback 1037'] },
  { part: '107', moved: '100.00', seen: ['taken', 'callback 1037', 'callback 0'] },
  { part: '109', moved: '100.00', seen: NORMAL },
  { part: '110', moved: '100.00', seen: NORMAL },
  { part: '111', moved: '50.00', seen: NORMAL },
  { part: '122', moved: null, seen: ['taken', 'callback 7777'] },
];

const PAYOUTS: Row[] = [
  ...DELIVERIES,
  { part: '001', moved: null, seen: ['taken', 'callback 2040'] },
  { part: '032', moved: null, seen: ['taken', 'callback 8'] },
  { part: '037', moved: null, seen: ['taken', 'callback SFC_IC0003'] },
  { part: '107', moved: '100.00', seen: ['taken', 'callback 2040', 'callback 0'] },
  { part: '111', moved: '50.00', seen: NORMAL },
  { part: '120', moved: null, seen: ['taken', 'callback 1'] },
  { part: '121', moved: null, seen: ['taken', 'callback 8006'] },
  { part: '122', moved: null, seen: ['taken', 'callback 7777'] },
  { part: '123', moved: '100.00', seen: ['taken', 'timeout', 'callback 0'] },
];

const REVERSALS: Row[] = [
  ...DELIVERIES,
  { part: '109', moved: null, seen: ['taken', 'callback R000002'] },
];

describe('Daraja simulator: parts of phones', () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller.close());

  for (const row of COLLECTIONS) {
    it(`collection of …${row.part}: ${row.seen.join(', ')}; moved: ${row.moved}`, async () => {
      const phone = phoneOf(row.part);
      const name = `collection-${phone}`;
      const body = caller.bodies.stkPush(phone, name);
      expect(await play(name, PATHS.stkPush, body, row)).to.deep.equal(row.seen);
      await expectMoved('collection', phone, row.moved);
    });
  }

  for (const row of PAYOUTS) {
    it(`payout to …${row.part}: ${row.seen.join(', ')}; moved: ${row.moved}`, async () => {
      const phone = phoneOf(row.part);
      const name = `payout-${phone}`;
      expect(await play(name, PATHS.b2c, caller.bodies.b2c(phone, name), row)).to.deep.equal(
        row.seen,
      );
      await expectMoved('payout', phone, row.moved);
    });
  }

  for (const row of REVERSALS) {
    it(`reversal of …${row.part}: ${row.seen.join(', ')}; moved: ${row.moved}`, async () => {
      const phone = phoneOf(row.part);
      const name = `reversal-${phone}`;
      const receipt = await collect(phone);
      const body = caller.bodies.reversal(receipt, name);
      expect(await play(name, PATHS.reversal, body, row)).to.deep.equal(row.seen);
      await expectMoved('reversal', phone, row.moved);
    });
  }

  it('collection of …104: is taken, its answer is lost, and a callback says that it succeeded', async () => {
    const phone = phoneOf('104');
    const body = caller.bodies.stkPush(phone, phone);
    expect(await seenAs(caller.post(PATHS.stkPush, body))).to.equal('lost');
    const [callback] = await caller.callbacks(phone);
    expect(stkCallbackOf(callback!).ResultCode).to.equal(0);
    await expectMoved('collection', phone, '100.00');
  });

  it('payout to …104: is taken, its answer is lost, and a repeat is a duplicate', async () => {
    const phone = phoneOf('104');
    const body = caller.bodies.b2c(phone, phone);
    expect(await seenAs(caller.post(PATHS.b2c, body))).to.equal('lost');
    expect(await seenAs(caller.post(PATHS.b2c, body))).to.equal('500.002.1001');
    const [callback] = await caller.callbacks(phone);
    expect(Number(resultOf(callback!).ResultCode)).to.equal(0);
    await expectMoved('payout', phone, '100.00');
  });

  it('collection of …105: no question finds what never arrived', async () => {
    const phone = phoneOf('105');
    expect(await seenAs(caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, phone)))).to.equal(
      'lost',
    );
    await collect(phoneOf('000'));
    expect(caller.receiver.bodiesOf(phone)).to.deep.equal([]);
    await expectMoved('collection', phone, null);
  });

  for (const part of ['104', '110']) {
    it(`reversal of …${part}: its answer is lost, and it succeeds once however often it is sent`, async () => {
      const phone = phoneOf(part);
      const body = caller.bodies.reversal(await collect(phone), phone);
      expect(await seenAs(caller.post(PATHS.reversal, body))).to.equal('lost');
      expect(await seenAs(caller.post(PATHS.reversal, body))).to.equal('lost');
      const codes = (await caller.callbacks(phone, 2)).map((each) => resultOf(each).ResultCode);
      expect(codes.map(String)).to.deep.equal(['0', 'R000001']);
      await expectMoved('reversal', phone, '100.00');
    });
  }

  it('108: stays open after later payments have ended', async () => {
    const patient = await startCaller({ slowSuccessMs: MINUTE_MS });
    const [slow, later] = [phoneOf('108'), phoneOf('000')];
    await patient.post(PATHS.b2c, patient.bodies.b2c(slow, slow));
    await patient.post(PATHS.stkPush, patient.bodies.stkPush(later, later));
    await patient.callbacks(later);
    expect(patient.events).to.deep.equal([later]);
    await patient.close();
  });

  /** Sends a request until it is taken or refused, and tells all that the sender sees. */
  async function play(name: string, path: string, body: Json, { seen }: Row): Promise<string[]> {
    const from = caller.events.length;
    const ownEvents = () =>
      caller.events.slice(from).filter((each) => each === name || each === `${name}-timeout`);
    const trail: string[] = [];
    for (const _ of seen.filter((each) => !isPost(each))) {
      const answer = await seenAs(caller.post(path, body));
      trail.push(...(await codesOf(name, ownEvents().slice(trail.filter(isPost).length))), answer);
    }
    const posts = seen.filter(isPost).length;
    await eventually(() => ownEvents().length >= posts);
    // Posts of payments that began later have come by then, so a further one would have come too.
    await collect(phoneOf('000'));
    const all = await codesOf(name, ownEvents());
    return [...trail, ...all.slice(trail.filter(isPost).length)];
  }

  async function codesOf(name: string, events: string[]): Promise<string[]> {
    const bodies = caller.receiver.bodiesOf(name).map((text) => JSON.parse(text) as Json);
    return events.map((event) => {
      if (event !== name) return 'timeout';
      const body = bodies.shift()!;
      return `callback ${body.Body ? stkCallbackOf(body).ResultCode : resultOf(body).ResultCode}`;
    });
  }

  /** Collects 100.00 and returns the receipt. */
  async function collect(phone: string): Promise<string> {
    const name = `before-${phone}`;
    let answer = '';
    while (answer !== 'taken' && answer !== 'lost-but-taken') {
      answer = await seenAs(caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, name)));
      if (answer === 'lost' && phone.endsWith('104')) answer = 'lost-but-taken';
    }
    return (await eventually(() => lineOf('collection', phone))).trans_id;
  }

  const lineOf = async (kind: string, phone: string) =>
    (await caller.statement()).find((line) => line.kind === kind && line.account === `+${phone}`);

  async function expectMoved(kind: string, phone: string, moved: string | null): Promise<void> {
    const line =
      moved === null ? await lineOf(kind, phone) : await eventually(() => lineOf(kind, phone));
    expect(line?.amount ?? null).to.equal(moved);
    const all = await caller.statement();
    const own = all.filter((each) => each.kind === kind && each.account === `+${phone}`);
    expect(own).to.have.length(moved === null ? 0 : 1);
  }
});

const isPost = (event: string) => event === 'timeout' || event.startsWith('callback');
