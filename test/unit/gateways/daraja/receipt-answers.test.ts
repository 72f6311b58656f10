import { expect } from 'chai';
import type { GatewayPaymentKind } from '../../../../src/domain/gateway-results.ts';
import { PAYMENT_KINDS } from '../../../../src/domain/payments/payment-summary.ts';
import { parse } from './callback-fixtures.ts';
import { aConfig, aGateway, aResult, startDaraja } from './daraja-support.ts';

const CUSTOMER = '254708374149 - JOHN DOE';
const SHOP = '600980 - Shop';

describe('answers of Daraja to questions about receipts', () => {
  const completed = (others: object = {}) =>
    aResult(
      {},
      {
        OriginatorConversationID: 'ref-1',
        TransactionStatus: 'Completed',
        ReceiptNo: 'NLJ41HAY6Q',
        Amount: '10.00',
        FinalisedTime: '20261122102115',
        DebitPartyName: SHOP,
        CreditPartyName: CUSTOMER,
        ...others,
      },
    );
  const told = (kind: GatewayPaymentKind, body: unknown) => parse(kind, body, 'receipt')?.verdict;

  it('tell the amount, the customer and our reference of a payout', () => {
    expect(told('payout', completed())).to.deep.equal({
      outcome: 'receipt',
      transId: 'NLJ41HAY6Q',
      told: {
        amountCents: 10_00,
        account: '+254708374149',
        reference: 'ref-1',
        externalRef: null,
        isOfKind: null,
        completedAt: new Date('2026-11-22T10:21:15+03:00'),
      },
    });
  });

  it('tell the customer of a collection, whose reference nobody chose', () => {
    const body = completed({ DebitPartyName: CUSTOMER, CreditPartyName: SHOP });
    expect(told('collection', body)).to.deep.include({
      told: {
        ...{ amountCents: 10_00, account: '+254708374149', reference: null, externalRef: null },
        isOfKind: null,
        completedAt: new Date('2026-11-22T10:21:15+03:00'),
      },
    });
  });

  it('tell Daraja’s reference of a reversal', () => {
    const { told: facts } = told('reversal', completed()) as { told: object };
    expect(facts).to.include({ reference: null, externalRef: 'ref-1' });
  });

  for (const [words, kinds] of [
    ['Business Payment to Customer via API', ['payout']],
    ['Salary Payment via API', ['payout']],
    ['Promotion Payment via API', ['payout']],
    ['Org Reversal via API', ['reversal', 'return']],
    ['Pay Bill Online', ['collection']],
    ['Customer Merchant Payment', ['collection']],
    ['Buy Goods Online', ['collection']],
  ] as const) {
    it(`tell by “${words}” that it is no other kind than ${kinds.join(' or ')}`, () => {
      for (const kind of PAYMENT_KINDS) {
        const facts = told(kind, completed({ ReasonType: words }));
        expect(facts).to.have.nested.property('told.isOfKind', kinds.includes(kind as never));
      }
    });
  }

  for (const words of ['Business Pay Bill', 'Something New', '']) {
    it(`tell no kind by “${words}”`, () => {
      const facts = told('return', completed({ ReasonType: words }));
      expect(facts).to.have.nested.property('told.isOfKind', null);
    });
  }

  it('tell no customer when both sides have one name, as in the documented sample', () => {
    const body = completed({ DebitPartyName: CUSTOMER });
    expect(told('payout', body)).to.have.nested.property('told.account', null);
  });

  it('tell that there is no completed transaction with the receipt', () => {
    const unknown = {
      ResultCode: 2032,
      ResultDesc: 'The transaction receipt number does not exist.',
    };
    for (const body of [aResult(unknown), completed({ TransactionStatus: 'Declined' })]) {
      expect(told('payout', body)).to.include({ outcome: 'receipt', told: null });
    }
  });

  it('tell nothing when the question failed, or the transaction is under way', () => {
    const wrong = { ResultCode: 2001, ResultDesc: 'The initiator information is invalid.' };
    for (const body of [
      aResult(wrong),
      completed({ TransactionStatus: 'Authorized' }),
      completed({ Amount: 'ten' }),
    ]) {
      expect(told('payout', body)).to.deep.equal({ outcome: 'pending' });
    }
    expect(told('payout', 'no JSON')).to.equal(undefined);
  });

  it('come to the address of the question, which names the receipt', async () => {
    const daraja = await startDaraja();
    daraja.answers(200, { ResponseCode: '0', ResponseDescription: 'Accepted.' });
    const question = {
      receipt: 'NLJ41HAY6Q',
      callbackUrl: 'https://api.test/receipt',
      timeoutUrl: 'https://api.test/timeout',
    };
    const answer = await aGateway(daraja.client, aConfig()).askReceipt?.(question);
    await daraja.close();
    expect(answer).to.deep.equal({ outcome: 'asked' });
    expect(daraja.requests[0]!.body).to.deep.include({
      TransactionID: 'NLJ41HAY6Q',
      ResultURL: question.callbackUrl,
      QueueTimeOutURL: question.timeoutUrl,
    });
    expect(daraja.requests[0]!.body).to.not.have.property('OriginalConversationID');
  });
});
