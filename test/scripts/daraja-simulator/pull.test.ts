import { expect } from 'chai';
import { MINUTE_MS } from '../../../src/time.ts';
import { eventually } from '../../support/gateway-fixtures.ts';
import {
  type Caller,
  type Json,
  PATHS,
  phoneOf,
  SHORT_CODE,
  startCaller,
} from './daraja-caller.ts';

const PAYMENTS = 120;
const NAIROBI_AHEAD_MS = 3 * 60 * 60 * 1_000;

describe('Daraja simulator: pulled transactions', () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller.close());

  const inNairobi = (ms: number) =>
    new Date(ms + NAIROBI_AHEAD_MS).toISOString().slice(0, 19).replace('T', ' ');
  const query = async (fields: Json = {}) => {
    const now = Date.now();
    const window = {
      StartDate: inNairobi(now - MINUTE_MS),
      EndDate: inNairobi(now + MINUTE_MS),
    };
    const body = { ShortCode: SHORT_CODE, ...window, OffSetValue: 0, ...fields };
    return (await caller.post(PATHS.pullQuery, body)).body;
  };
  const rowsOf = (body: Json) => (body.Response as Json[][]).flat();

  it('registers a shortcode, and says the second time that it had it already', async () => {
    const body = {
      ShortCode: SHORT_CODE,
      RequestType: 'Pull',
      NominatedNumber: phoneOf('000'),
      CallBackURL: caller.receiver.urlFor('pull'),
    };
    for (const status of ['1000', '1001']) {
      const answer = await caller.post(PATHS.pullRegister, body);
      expect(answer.body['Response Status']).to.equal(status);
    }
  });

  it('answers an empty window as a success with text in the place of the list', async () => {
    const empty = await query({ StartDate: '2020-01-01 00:00:00', EndDate: '2020-01-02 00:00:00' });
    expect(empty).to.include({ ResponseCode: '1001', Response: '[[]]' });
  });

  it('lists collections in pages of rows in a list of lists, and no payouts', async () => {
    const phone = phoneOf('000');
    await caller.post(PATHS.b2c, caller.bodies.b2c(phone, 'payout'));
    const push = () => caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, 'many'));
    await Promise.all(Array.from({ length: PAYMENTS }, push));
    await eventually(async () => (await caller.statement()).length === PAYMENTS + 1);
    const first = await query();
    const rows = [...rowsOf(first), ...rowsOf(await query({ OffSetValue: '100' }))];
    expect(first.ResponseCode).to.equal('1000');
    expect(rowsOf(first)).to.have.length(100);
    expect(new Set(rows.map((row) => row.transactionId)).size).to.equal(PAYMENTS);
    const line = (await caller.statement()).find(
      (each) => each.trans_id === rows[0]!.transactionId,
    )!;
    expect(rows[0]).to.include({
      ...{ msisdn: Number(phone), amount: '100.00', billreference: 'Shop INV-1' },
      trxDate: `${line.completed_at.slice(0, 19)}Z`,
    });
    expect(await query({ OffSetValue: PAYMENTS })).to.include({ ResponseCode: '1001' });
    expect(await query({ ShortCode: '600000' })).to.include({ ResponseCode: '1001' });
  });
});
