import { expect } from 'chai';
import { compactTime } from '../../../scripts/daraja-simulator/nairobi-time.ts';
import {
  type Caller,
  CREDENTIAL,
  type Json,
  PATHS,
  phoneOf,
  startCaller,
  stkPassword,
} from './daraja-caller.ts';

const AN_HOUR_MS = 60 * 60 * 1_000;

describe('Daraja simulator: checks of requests', () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller.close());

  const phone = phoneOf('000');
  const WRONG: [product: keyof typeof PATHS, field: string, values: unknown[]][] = [
    ['stkPush', 'BusinessShortCode', [undefined, '1', 'shop']],
    ['stkPush', 'Timestamp', ['', '20261332000000', '2026-11-23 00:00:00']],
    ['stkPush', 'TransactionType', ['PayBill']],
    ['stkPush', 'Amount', [0, '0', '1.00', 1.5, '-1', '250001', '']],
    ['stkPush', 'PhoneNumber', [`+${phone}`, '0712345678', '254612345678', '25471234567']],
    ['stkPush', 'PartyA', [undefined]],
    ['stkPush', 'PartyB', [undefined]],
    ['stkPush', 'CallBackURL', ['nowhere', 'ftp://127.0.0.1/']],
    ['stkPush', 'AccountReference', ['', 'a'.repeat(13)]],
    ['stkPush', 'TransactionDesc', ['a'.repeat(14), 7]],
    ['stkQuery', 'CheckoutRequestID', [undefined, '']],
    ['b2c', 'OriginatorConversationID', [undefined]],
    ['b2c', 'InitiatorName', [undefined]],
    ['b2c', 'SecurityCredential', ['password', CREDENTIAL.slice(1)]],
    ['b2c', 'CommandID', ['BusinessPayBill']],
    ['b2c', 'Amount', ['9', '250001', '10.00']],
    ['b2c', 'PartyB', [`+${phone}`]],
    ['b2c', 'Remarks', ['a', 'a'.repeat(101)]],
    ['b2c', 'QueueTimeOutURL', [undefined]],
    ['b2c', 'ResultURL', ['here']],
    ['b2c', 'Occassion', ['a'.repeat(101)]],
    ['reversal', 'Initiator', [undefined]],
    ['reversal', 'CommandID', ['Reversal']],
    ['reversal', 'RecieverIdentifierType', [undefined, '4']],
    ['reversal', 'TransactionID', [undefined]],
    ['transactionStatus', 'CommandID', ['TransactionStatus']],
    ['transactionStatus', 'IdentifierType', ['11']],
    ['transactionStatus', 'TransactionID', [undefined]],
    ['accountBalance', 'IdentifierType', [undefined]],
    ['pullRegister', 'RequestType', ['Push']],
    ['pullQuery', 'StartDate', ['20261123000000', '2026-02-30 00:00:00', 'now']],
    ['pullQuery', 'OffSetValue', [undefined, -1]],
    ['organization', 'IdentifierType', ['1']],
  ];

  for (const [product, field, values] of WRONG) {
    it(`${product}: refuses ${field} ${values.map((value) => JSON.stringify(value)).join(', ')}`, async () => {
      for (const value of values) {
        const body = { ...validBody(product), [field]: value };
        const { status, body: answer } = await caller.post(PATHS[product], body);
        expect(status, String(value)).to.equal(400);
        expect(answer).to.include({
          errorCode: '400.002.02',
          errorMessage: `Bad Request - Invalid ${field}`,
        });
      }
    });
  }

  it('takes numbers for text of digits, and misses no optional field', async () => {
    const { TransactionDesc, ...push } = caller.bodies.stkPush(phone, 'numbers', {
      Amount: 100,
      PartyA: Number(phone),
      PhoneNumber: Number(phone),
    });
    expect((await caller.post(PATHS.stkPush, push)).status).to.equal(200);
    for (const product of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
      if (product === 'stkQuery') continue;
      expect((await caller.post(PATHS[product], validBody(product))).status, product).to.equal(200);
    }
  });

  it('misses the first field when the content type is another one', async () => {
    const token = await caller.renewToken();
    const answer = await caller.call('POST', PATHS.stkPush, validBody('stkPush'), {
      'content-type': 'text/plain',
      authorization: `Bearer ${token}`,
    });
    expect(answer.body.errorMessage).to.equal('Bad Request - Invalid BusinessShortCode');
  });

  it('answers another verb, another path and a body that is not JSON in its own form', async () => {
    for (const [method, path, body, status, errorCode] of [
      ['GET', PATHS.b2c, undefined, 405, '405.001'],
      ['POST', '/oauth/v1/generate', '{}', 405, '405.001'],
      ['POST', '/mpesa/b2c/v4/paymentrequest', '{}', 404, '404.001.01'],
      ['POST', PATHS.b2c, '{', 400, '400.002.05'],
    ] as const) {
      const answer = await caller.call(method, path, body);
      expect(answer.status).to.equal(status);
      expect(answer.body).to.include({ errorCode });
    }
  });

  it('refuses a password of another passkey, shortcode or time', async () => {
    const good = caller.bodies.stkPush(phone, 'password');
    for (const fields of [
      { Password: stkPassword(good.Timestamp, 'another') },
      { Password: stkPassword('20261123000000') },
      { BusinessShortCode: '174380' },
    ]) {
      const answer = await caller.post(PATHS.stkPush, { ...good, ...fields });
      expect(answer.status).to.equal(500);
      expect(answer.body).to.include({
        errorCode: '500.001.1001',
        errorMessage: 'Wrong credentials',
      });
    }
  });

  it('refuses a timestamp that is not the time in Nairobi, unless it is told to take any', async () => {
    const stampedHoursOff = (hours: number) => {
      const Timestamp = compactTime(new Date(Date.now() + hours * AN_HOUR_MS));
      return { Timestamp, Password: stkPassword(Timestamp) };
    };
    const asUtc = stampedHoursOff(-3);
    const body = { ...caller.bodies.stkPush(phone, 'time'), ...asUtc };
    expect((await caller.post(PATHS.stkPush, body)).body.errorMessage).to.contain('Timestamp');
    const lenient = await startCaller({ anyTimestamp: true });
    const answer = await lenient.post(PATHS.stkPush, {
      ...lenient.bodies.stkPush(phone, 'time'),
      ...asUtc,
    });
    expect(answer.status).to.equal(200);
    await lenient.close();
  });

  it('knows no merchant but its own, if it has one', async () => {
    const other = await startCaller({ shortCode: '600000' });
    const answer = await other.post(PATHS.stkPush, other.bodies.stkPush(phone, 'merchant'));
    expect(answer.status).to.equal(500);
    expect(answer.body.errorMessage).to.equal('Merchant does not exist');
    await other.close();
  });

  function validBody(product: keyof typeof PATHS): Json {
    const { bodies, receiver } = caller;
    const window = { StartDate: '2026-11-22 00:00:00', EndDate: '2026-11-23 00:00:00' };
    const pull = { ShortCode: '174379', NominatedNumber: phone };
    return {
      stkPush: () => bodies.stkPush(phone, 'valid'),
      stkQuery: () => bodies.stkQuery('ws_CO_1'),
      b2c: () => bodies.b2c(phone, 'valid'),
      reversal: () => bodies.reversal('SJK3ABCDE1', 'valid'),
      transactionStatus: () => bodies.transactionStatus({ TransactionID: 'SJK3ABCDE1' }, 'valid'),
      accountBalance: () => bodies.accountBalance('valid'),
      pullRegister: () => ({ ...pull, RequestType: 'Pull', CallBackURL: receiver.urlFor('pull') }),
      pullQuery: () => ({ ...pull, ...window, OffSetValue: 0 }),
      organization: () => ({ IdentifierType: 4, Identifier: '174379' }),
    }[product]();
  }
});
