import { expect } from 'chai';
import type { GatewayPaymentKind } from '../../../../src/domain/gateway-results.ts';
import { CONVERSATION, PAID_OUT, parse } from './callback-fixtures.ts';
import { aResult, SETTLING_WINDOW_MS } from './daraja-support.ts';

describe('answers of Daraja to questions about payouts and reversals', () => {
  const fate = (TransactionStatus: unknown, others: object = {}) =>
    aResult(
      { OriginatorConversationID: 'question', ConversationID: 'AG_question' },
      {
        OriginatorConversationID: 'ref-1',
        ConversationID: CONVERSATION,
        TransactionStatus,
        ReceiptNo: 'NLJ41HAY6Q',
        Amount: '10.00',
        FinalisedTime: 20191219102115,
        DebitPartyName: '600980 - Shop',
        ...others,
      },
    );
  const answer = (kind: GatewayPaymentKind, body: unknown) => parse(kind, body, 'answer');

  it('tell the fate of the payment, and its own references', () => {
    const verdict = { ...PAID_OUT, account: null, externalRef: null };
    expect(answer('payout', fate('Completed'))).to.deep.equal({ reference: 'ref-1', verdict });
    expect(answer('return', fate('Completed'))).to.deep.equal({
      reference: null,
      verdict: { ...verdict, externalRef: 'ref-1' },
    });
  });

  it('tell what was charged, and nothing of it if any part cannot be read', () => {
    const chargeOf = (DebitPartyCharges: unknown) => {
      const verdict = answer('payout', fate('Completed', { DebitPartyCharges }))?.verdict;
      expect(verdict).to.include({ outcome: 'succeeded', transId: 'NLJ41HAY6Q' });
      return verdict && 'chargeCents' in verdict ? verdict.chargeCents : null;
    };
    const read = [
      ['Fee For B2C Payment|KES|33.00', 33_00],
      ['Fee For B2C Payment|KES|22.40&Excise Duty|KES|3.6', 26_00],
      ['|KES|0', 0],
    ] as const;
    for (const [text, cents] of read) expect(chargeOf(text), text).to.equal(cents);
    const unread = [
      '',
      null,
      33,
      'KES 33',
      'Fee|USD|33.00',
      'Fee|KES|-33.00',
      'Fee|KES|1.005',
    ].concat([
      'Fee|KES|3,300.00',
      'Fee|KES|33.00&',
      'Fee|KES|33.00&Duty|KES|?',
      'Fee|KES|33.00|1.00',
    ]);
    for (const text of unread) expect(chargeOf(text), `${text}`).to.equal(null);
  });

  it('fail what ended without money', () => {
    const ends = [
      ['Cancelled', 90_003],
      ['Canceled', 90_003],
      ['Declined', 90_004],
      ['Expired', 90_005],
    ] as const;
    for (const [state, code] of ends) {
      const verdict = answer('payout', fate(state))?.verdict;
      expect(verdict).to.include({ outcome: 'failed', code, externalRef: null });
    }
  });

  it('tell nothing of a payment under way, and nothing in words that nobody knows', () => {
    const states = [
      'Initiated',
      'Authorized',
      'Pending Authorized',
      'New',
      '',
      null,
      0,
      '0',
      26,
      1,
    ];
    for (const state of states) {
      const verdict = answer('payout', fate(state))?.verdict;
      expect(verdict, `${state}`).to.deep.equal({ outcome: 'pending' });
    }
    const odd = answer('payout', fate('Completed', { Amount: 'ten' }))?.verdict;
    expect(odd).to.deep.equal({ outcome: 'pending' });
  });

  it('find no payout only when the words say so', () => {
    const failed = (ResultDesc: string) => aResult({ ResultCode: 2, ResultDesc });
    for (const words of ['The transaction does not exist.', 'Transaction ID not found']) {
      expect(answer('payout', failed(words))).to.deep.equal({
        reference: null,
        verdict: { outcome: 'notFound', settlingWindowMs: SETTLING_WINDOW_MS },
      });
      expect(answer('reversal', failed(words))?.verdict).to.deep.equal({ outcome: 'pending' });
    }
    for (const words of ['The initiator does not exist', 'System error', '']) {
      expect(answer('payout', failed(words))?.verdict).to.deep.equal({ outcome: 'pending' });
    }
  });
});
