import { expect } from 'chai';
import { bodyOf, eventually, startLocalServer } from '../../support/gateway-fixtures.ts';
import {
  type Answer,
  type Caller,
  PATHS,
  phoneOf,
  SHORT_CODE,
  startCaller,
  stkCallbackOf,
} from './daraja-caller.ts';

const A_LONG_TIME_MS = 60_000;

describe('Daraja simulator: STK push', () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller({ slowSuccessMs: A_LONG_TIME_MS });
  });
  after(() => caller.close());

  const push = (phone: string, fields = {}) =>
    caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, phone, fields));
  const query = (id: unknown) => caller.post(PATHS.stkQuery, caller.bodies.stkQuery(id));
  const ended = async (phone: string) => {
    const { body } = await push(phone);
    await caller.callbacks(phone);
    return body.CheckoutRequestID;
  };

  it('acknowledges without anything that the caller chose', async () => {
    const { status, body } = await push(phoneOf('000'));
    expect(status).to.equal(200);
    expect(body).to.have.all.keys(
      ...['MerchantRequestID', 'CheckoutRequestID', 'ResponseCode'],
      ...['ResponseDescription', 'CustomerMessage'],
    );
    expect(body.ResponseCode).to.equal('0');
    expect(body.CheckoutRequestID).to.match(/^ws_CO_\d{14}/);
  });

  it('tells of a success with a number as code, a balance without a value and times in Nairobi', async () => {
    const phone = phoneOf('000');
    const { body } = await push(phone);
    const callback = stkCallbackOf((await caller.callbacks(phone))[0]!);
    const { MerchantRequestID, CheckoutRequestID } = body;
    expect(callback).to.include({ MerchantRequestID, CheckoutRequestID, ResultCode: 0 });
    const items = new Map(callback.CallbackMetadata!.Item.map((item) => [item.Name, item]));
    const [line] = await caller.statement(`?reference=${CheckoutRequestID}`);
    expect(items.get('Balance')).to.deep.equal({ Name: 'Balance' });
    expect(items.get('Amount')!.Value).to.equal(100);
    expect(items.get('PhoneNumber')!.Value).to.equal(Number(phone));
    expect(items.get('MpesaReceiptNumber')!.Value)
      .to.match(/^[A-Z][A-Z0-9]{9}$/)
      .and.equal(line!.trans_id);
    const inNairobi = new Date(Date.parse(line!.completed_at) + 3 * 60 * 60 * 1_000);
    const digits = inNairobi.toISOString().replace(/\D/g, '').slice(0, 14);
    expect(items.get('TransactionDate')!.Value).to.equal(Number(digits));
  });

  it('changes the order of the items from callback to callback', async () => {
    const firsts = new Set<string>();
    await eventually(async () => {
      const phone = phoneOf('000');
      await ended(phone);
      const { CallbackMetadata } = stkCallbackOf((await caller.callbacks(phone))[0]!);
      return firsts.add(CallbackMetadata!.Item[0]!.Name).size > 1;
    });
  });

  it('tells of a failure without metadata, and of one payment in two ways', async () => {
    const phone = phoneOf('037');
    const id = await ended(phone);
    const callback = stkCallbackOf((await caller.callbacks(phone))[0]!);
    expect(callback).to.not.have.property('CallbackMetadata');
    expect(callback).to.include({ ResultCode: 1037, ResultDesc: 'No response from user.' });
    const answer = await query(id);
    expect(answer.body).to.include({
      ResultCode: '1037',
      ResultDesc: 'DS timeout user cannot be reached.',
    });
  });

  it('posts with the shortcode as a header', async () => {
    const received: { code: unknown; type: unknown; body: string }[] = [];
    const server = await startLocalServer(async (req, res) => {
      const { businessshortcode: code, 'content-type': type } = req.headers;
      received.push({ code, type, body: await bodyOf(req) });
      res.end();
    });
    await push(phoneOf('000'), { CallBackURL: `${server.url}/here` });
    const post = await eventually(() => received[0]);
    expect(post.code).to.equal(SHORT_CODE);
    expect(post.type).to.equal('application/json;charset=UTF-8');
    expect(JSON.parse(post.body)).to.have.property('Body');
    await server.close();
  });

  it('takes two pushes that say the same for two payments', async () => {
    const phone = phoneOf('000');
    const body = caller.bodies.stkPush(phone, phone);
    const answers = [
      await caller.post(PATHS.stkPush, body),
      await caller.post(PATHS.stkPush, body),
    ];
    expect(new Set(answers.map((each) => each.body.CheckoutRequestID)).size).to.equal(2);
    await caller.callbacks(phone, 2);
    const lines = (await caller.statement()).filter(({ account }) => account === `+${phone}`);
    expect(new Set(lines.map(({ trans_id }) => trans_id)).size).to.equal(2);
  });

  describe('query', () => {
    it('alternates between the forms of "not yet" while a payment is open', async () => {
      const { CheckoutRequestID } = (await push(phoneOf('108'))).body;
      const seen = new Set<string>();
      await eventually(async () => {
        const answer = await query(CheckoutRequestID);
        return seen.add(`${answer.status} ${formOf(answer)}`).size === 3;
      });
      expect([...seen].sort()).to.deep.equal([
        '200 4999',
        '500 500.001.1001 ""',
        '500 500.001.1001 "The transaction is being processed"',
      ]);
    });

    it('answers the end with text as code, and without receipt, amount and phone', async () => {
      const { status, body } = await query(await ended(phoneOf('000')));
      expect(status).to.equal(200);
      expect(body).to.include({ ResponseCode: '0', ResultCode: '0' });
      expect(body).to.have.all.keys(
        ...['ResponseCode', 'ResponseDescription', 'MerchantRequestID'],
        ...['CheckoutRequestID', 'ResultCode', 'ResultDesc'],
      );
    });

    it('finds the success of a payment whose callback never comes', async () => {
      const { CheckoutRequestID } = (await push(phoneOf('101'))).body;
      await eventually(async () => (await query(CheckoutRequestID)).body.ResultCode === '0');
    });

    it('does not know another CheckoutRequestID', async () => {
      const answer = await query('ws_CO_23112026000000000');
      expect(formOf(answer)).to.equal('500.001.1001 "The transaction does not Exist"');
    });

    it('claims not to know a payment that has ended, when the quirk is on', async () => {
      const id = await ended(phoneOf('000'));
      await caller.setQuirks({ queryFlap: 1 });
      const answers = [await query(id), await query(id), await query(id)];
      expect(answers.map(({ body }) => body.errorCode)).to.deep.equal(
        Array(3).fill('500.001.1001'),
      );
      await caller.setQuirks({});
      expect((await query(id)).body.ResultCode).to.equal('0');
    });
  });
});

function formOf({ body }: Answer): unknown {
  return body.ResultCode ?? `${body.errorCode} ${JSON.stringify(body.errorMessage)}`;
}
