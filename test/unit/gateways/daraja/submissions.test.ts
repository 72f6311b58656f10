import { expect } from 'chai';
import type { SubmitRequest } from '../../../../src/gateways/gateway.ts';
import { Pace } from '../../../../src/gateways/pace.ts';
import { closedPortUrl } from '../../../support/gateway-fixtures.ts';
import { aConfig, aGateway, aRequest, clientOf, startDaraja } from './daraja-support.ts';

type Kind = SubmitRequest['kind'];

const STK_ACK = {
  MerchantRequestID: '2654-4b64-97ff-b827b542881d3130',
  CheckoutRequestID: 'ws_CO_1007202409152617172396192',
  ResponseCode: '0',
  ResponseDescription: 'Success. Request accepted for processing',
  CustomerMessage: 'Success. Request accepted for processing',
};
const ACK = {
  ConversationID: 'AG_20240706_20106e9209f64bebd05b',
  OriginatorConversationID: 'ref-1',
  ResponseCode: '0',
  ResponseDescription: 'Accept the service request successfully.',
};
const HTML = '<html><body>Request Rejected</body></html>';

const refusal = (errorCode: string, errorMessage: string) => ({
  requestId: '11728-2929992-1',
  errorCode,
  errorMessage,
});

describe('submissions to Daraja', () => {
  let daraja: Awaited<ReturnType<typeof startDaraja>>;
  let pace: Pace;
  before(async () => {
    daraja = await startDaraja();
  });
  after(() => daraja.close());
  beforeEach(() => {
    pace = new Pace();
  });

  const submit = (kind: Kind, status: number, body: unknown, config = aConfig()) => {
    daraja.answers(status, body);
    return aGateway(daraja.client, config, pace).submit(aRequest(kind));
  };
  const sent = async (kind: Kind, fields: Partial<SubmitRequest> = {}, config = aConfig()) => {
    daraja.answers(200, kind === 'collection' ? STK_ACK : ACK);
    await aGateway(daraja.client, config).submit(aRequest(kind, fields));
    return daraja.requests[0]!;
  };

  it('ask for a prompt with the documented fields', async () => {
    const { path, body } = await sent('collection', { accountNumber: 'INV-001' });
    expect(path).to.equal('/mpesa/stkpush/v1/processrequest');
    const { Password, Timestamp, ...others } = body;
    expect(Timestamp).to.match(/^\d{14}$/);
    expect(Buffer.from(`${Password}`, 'base64').toString()).to.equal(
      `174379${aConfig().shortcodes.get('174379')?.passkey}${Timestamp}`,
    );
    expect(others).to.deep.equal({
      BusinessShortCode: 174379,
      TransactionType: 'CustomerPayBillOnline',
      Amount: '100',
      PartyA: '254708374149',
      PartyB: '174379',
      PhoneNumber: '254708374149',
      CallBackURL: 'https://pay.example.com/result',
      AccountReference: 'Duka INV-001',
      TransactionDesc: 'INV-001',
    });
  });

  it('name the till that a prompt collects for', async () => {
    const config = aConfig({ type: 'till', till: '123456' });
    expect((await sent('collection', {}, config)).body).to.include({
      TransactionType: 'CustomerBuyGoodsOnline',
      PartyB: '123456',
      BusinessShortCode: 174379,
    });
  });

  it('let the payer recognise the merchant in 12 and 13 safe characters', async () => {
    const texts: [name: string, account: string | null, reference: string, description: string][] =
      [
        ['Duka la Mama', 'A1', 'Duka la M A1', 'A1'],
        ['Duka la Mama', '1234567', 'Duka 1234567', '1234567'],
        ['Duka la Mama', '12345678', 'Duka la Mama', '12345678'],
        ['Mama Njeri’s Café & Co', '254708374149123', 'Mama Njeris', '2547083741491'],
        ['Wá', 'Ä_1', 'Wa A1', 'A1'],
        ['Duka', null, 'Duka', 'Payment'],
        ['商店', 'INV-1', 'INV-1', 'INV-1'],
        ['商店', null, 'Payment', 'Payment'],
      ];
    for (const [merchantName, accountNumber, AccountReference, TransactionDesc] of texts) {
      const { body } = await sent('collection', { merchantName, accountNumber });
      expect(body).to.include({ AccountReference, TransactionDesc });
    }
  });

  it('ask for a payout under our own reference', async () => {
    const { path, body } = await sent('payout', {
      narration: 'Wages: <May> №1',
      amountCents: 10_00,
    });
    expect(path).to.equal('/mpesa/b2c/v3/paymentrequest');
    const { SecurityCredential, ...others } = body;
    expect(SecurityCredential).to.have.lengthOf(344);
    expect(others).to.deep.equal({
      OriginatorConversationID: 'ref-1',
      InitiatorName: 'testapi',
      CommandID: 'BusinessPayment',
      Amount: '10',
      PartyA: '174379',
      PartyB: '254708374149',
      Remarks: 'Wages May No1',
      QueueTimeOutURL: 'https://pay.example.com/timeout',
      ResultURL: 'https://pay.example.com/result',
    });
    expect((await sent('payout', { narration: '!' })).body).to.include({ Remarks: 'Payout' });
  });

  it('ask for reversals and returns by the receipt', async () => {
    for (const kind of ['reversal', 'return'] as const) {
      const { path, body } = await sent(kind);
      expect(path).to.equal('/mpesa/reversal/v1/request');
      expect(body).to.include({
        Initiator: 'testapi',
        CommandID: 'TransactionReversal',
        TransactionID: 'SJK3ABCDE1',
        Amount: '100',
        ReceiverParty: '174379',
        RecieverIdentifierType: '11',
        ResultURL: 'https://pay.example.com/result',
        QueueTimeOutURL: 'https://pay.example.com/timeout',
        Remarks: 'Reversal',
      });
    }
  });

  it('wait for the receipt that a return needs', async () => {
    daraja.answers(200, ACK);
    const request = aRequest('return', { originalTransId: null });
    expect(await aGateway(daraja.client).submit(request)).to.include({
      outcome: 'notTaken',
      retryAfterMs: 600_000,
    });
    expect(daraja.requests).to.be.empty;
  });

  it('are acknowledged with the reference by which each product is asked about', async () => {
    const acknowledged = (externalRef: string) => ({ outcome: 'acknowledged', externalRef });
    expect(await submit('collection', 200, STK_ACK)).to.deep.equal(
      acknowledged(STK_ACK.CheckoutRequestID),
    );
    expect(await submit('payout', 200, ACK)).to.deep.equal(acknowledged(ACK.ConversationID));
    expect(await submit('reversal', 200, ACK)).to.deep.equal(acknowledged('ref-1'));
  });

  it('stay unknown when nobody knows whether they were taken', async () => {
    const answers: [Kind, number, unknown][] = [
      ['payout', 200, HTML],
      ['payout', 403, HTML],
      ['payout', 503, HTML],
      ['payout', 500, {}],
      ['payout', 200, {}],
      ['payout', 500, ACK],
      ['payout', 200, { ...ACK, ResponseCode: '1' }],
      ['payout', 200, { ...ACK, ResponseCode: '2040' }],
      ['collection', 200, { ...STK_ACK, ResponseCode: '1001' }],
      ['payout', 200, { ...ACK, ConversationID: undefined }],
      ['payout', 200, { ...ACK, OriginatorConversationID: 'another' }],
      ['payout', 200, { ...ACK, ...refusal('500.003.1001', 'Internal Server Error') }],
      ['payout', 500, refusal('500.002.1001', 'System internal error.')],
      ['payout', 500, refusal('500.001.1001', 'Unable to lock subscriber')],
      ['payout', 503, refusal('00.002.1001', 'Maintenance')],
      ['collection', 200, { ...STK_ACK, CheckoutRequestID: '' }],
      ['collection', 500, refusal('500.001.1001', 'Something else')],
      ['collection', 500, refusal('500.001.1001', '')],
      ['collection', 500, refusal('500.003.1001', 'Internal Server Error')],
      ['collection', 200, { ...STK_ACK, ResponseCode: '100000009' }],
    ];
    for (const [kind, status, body] of answers) {
      const result = await submit(kind, status, body);
      expect(result, JSON.stringify(body)).to.include({ outcome: 'unknown' });
      expect(result).to.not.have.property('unknownCode');
    }
    expect(await submit('payout', 400, refusal('777.1', 'New'))).to.deep.equal({
      outcome: 'unknown',
      reason: 'HTTP 400: 777.1 New',
      unknownCode: '777.1',
    });
  });

  it('go again later when Daraja is busy, and slow down', async () => {
    const answers: [number, unknown][] = [
      [500, refusal('500.003.02', 'System is busy. Please try again in few minutes.')],
      [500, refusal('500.003.03', 'Error Occurred - Quota Violation')],
      [429, refusal('500.003.02', 'Error Occurred: Spike Arrest Violation')],
      [429, HTML],
      [500, { fault: { faultstring: 'Spike arrest violation. Allowed rate : 5ps' } }],
    ];
    for (const [status, body] of answers) {
      pace = new Pace();
      expect(await submit('payout', status, body), JSON.stringify(body)).to.include({
        outcome: 'notTaken',
      });
      expect(pace.pauseMs).to.be.above(0);
    }
  });

  it('never go again because a code that may come after processing says busy', async () => {
    const answers: [number, unknown][] = [
      [200, { ResponseCode: '26', ResponseDescription: 'Traffic blocking condition in place' }],
      [200, { ResponseCode: '7777', ResponseDescription: 'System is busy' }],
      ...['100000001', '100000002', '100000011'].map((code): [number, unknown] => [
        500,
        refusal(code, 'Too much'),
      ]),
    ];
    for (const [status, body] of answers) {
      for (const kind of ['collection', 'payout', 'reversal'] as const) {
        pace = new Pace();
        expect(await submit(kind, status, body), JSON.stringify(body)).to.include({
          outcome: 'unknown',
        });
        expect(pace.pauseMs).to.be.above(0);
      }
    }
  });

  it('slow down for a firewall’s page and for an absent service, and speed up again', async () => {
    for (const status of [403, 503]) {
      pace = new Pace();
      await submit('payout', status, HTML);
      const slow = pace.pauseMs;
      expect(slow).to.be.above(0);
      await submit('payout', 200, ACK);
      expect(pace.pauseMs).to.be.below(slow);
    }
  });

  it('wait a minute for a customer who has another prompt open', async () => {
    const locked = refusal(
      '500.001.1001',
      'Unable to lock subscriber, a transaction is already in process for the current subscriber',
    );
    expect(await submit('collection', 500, locked)).to.include({
      outcome: 'notTaken',
      retryAfterMs: 60_000,
    });
    expect(pace.pauseMs).to.equal(0);
  });

  it('count as taken when Daraja has the reference already', async () => {
    const duplicate = refusal('500.002.1001', 'Duplicate OriginatorConversationID.');
    expect(await submit('payout', 500, duplicate)).to.deep.equal({
      outcome: 'acknowledged',
      externalRef: null,
    });
    expect(await submit('reversal', 500, duplicate)).to.include({ outcome: 'unknown' });
  });

  it('are refused for the operator’s own troubles, which merchants do not hear of', async () => {
    const troubles: [number, unknown, string][] = [
      [400, refusal('400.002.02', 'Bad Request - Invalid ResultURL'), '400.002.02 Bad Request'],
      [404, refusal('404.001.01', 'Resource not found'), '404.001.01'],
      [405, refusal('405.001', 'Method Not Allowed'), '405.001'],
      [403, refusal('403.001', 'Forbidden'), '403.001'],
      [401, refusal('401.003', 'Invalid API call as no apiproduct match found'), '401.003'],
      [500, refusal('500.001.1001', 'Merchant does not exist'), 'Merchant does not exist'],
      [500, refusal('500.001.1001', 'Wrong credentials'), 'Wrong credentials'],
    ];
    const descriptions = {
      collection: 'Payment could not be requested, try again later',
      payout: 'Payout could not be sent, try again later',
      reversal: 'Reversal could not be sent, try again later',
    };
    for (const [status, body, words] of troubles) {
      for (const [kind, description] of Object.entries(descriptions)) {
        const result = await submit(kind as Kind, status, body);
        expect(result).to.include({ outcome: 'declined', code: 90_000, description });
        expect(result).to.have.property('operatorTrouble').that.includes(words);
      }
    }
  });

  it('are refused for a phone or an amount without blaming the operator', async () => {
    const fields = {
      collection: ['PhoneNumber', 'PartyA', 'Amount'],
      payout: ['PartyB', 'Amount'],
    };
    for (const [kind, names] of Object.entries(fields)) {
      for (const name of names) {
        const body = refusal('400.002.02', `Bad Request - Invalid ${name}`);
        expect(await submit(kind as Kind, 400, body), `${kind} ${name}`).to.deep.equal({
          outcome: 'declined',
          code: 90_006,
          description: 'M-PESA refused the phone or the amount',
          externalRef: null,
        });
      }
    }
  });

  it('are not made without what they need', async () => {
    const bare = { passkey: undefined, initiator: undefined, security_credential: undefined };
    for (const kind of ['collection', 'payout', 'reversal'] as const) {
      const result = await submit(kind, 200, ACK, aConfig(bare));
      expect(result).to.include({ outcome: 'declined', code: 90_000 });
    }
    const gateway = aGateway(daraja.client);
    const bank = aRequest('payout', { account: '254708374149' });
    expect(await gateway.submit(bank)).to.include({ outcome: 'declined', code: 90_000 });
    expect(daraja.requests).to.be.empty;
    const cents = await gateway.submit(aRequest('payout', { amountCents: 10_50 })).catch((e) => e);
    expect(cents).to.be.instanceOf(RangeError);
  });

  it('were not taken when nothing was sent, and are unknown when the answer was lost', async () => {
    const url = await closedPortUrl();
    expect(await aGateway(clientOf(url)).submit(aRequest('payout'))).to.include({
      outcome: 'notTaken',
    });
    const refused = { outcome: 'neverSent', reason: 'token', retryAfterMs: 5_000 } as const;
    const withoutToken = aGateway({ authenticate: async () => null, post: async () => refused });
    expect(await withoutToken.submit(aRequest('payout'))).to.deep.equal({
      outcome: 'notTaken',
      reason: 'token',
      retryAfterMs: 5_000,
    });
    const cut = aGateway({
      authenticate: async () => null,
      post: async () => ({ outcome: 'lost', reason: 'reset' }),
    });
    expect(await cut.submit(aRequest('payout'))).to.deep.equal({
      outcome: 'unknown',
      reason: 'reset',
    });
  });
});
