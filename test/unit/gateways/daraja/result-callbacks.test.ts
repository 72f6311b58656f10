import { expect } from 'chai';
import { B2C, CONVERSATION, PAID_OUT, parse, verdictOf } from './callback-fixtures.ts';
import { aResult } from './daraja-support.ts';

describe('callbacks of Daraja about payouts', () => {
  it('tell the money and the phone, and keep no name', () => {
    const callback = parse('payout', aResult({}, B2C));
    expect(callback).to.deep.equal({ reference: 'ref-1', verdict: PAID_OUT });
    expect(JSON.stringify(callback)).to.not.include('John');
  });

  it('are read in both spellings of the parameters, and with only one of them', () => {
    const list = Object.entries(B2C).map(([Key, Value]) => ({ Key, Value }));
    for (const fields of [
      { ResultParameters: { ResultParameter: list } },
      { ResultParameter: { ResultParameters: list } },
      { ResultParameters: list },
    ]) {
      expect(verdictOf('payout', aResult(fields))).to.deep.equal(PAID_OUT);
    }
    const one = { ResultParameter: { Key: 'TransactionAmount', Value: '10.00' } };
    expect(verdictOf('payout', aResult({ ResultParameters: one }))).to.deep.equal({
      ...PAID_OUT,
      account: null,
      completedAt: null,
    });
  });

  it('never tell merchants of the operator’s float or credentials', () => {
    const codes = [1, 11, 18, 20, 21, 22, 24, 25, 29, 2001, 2006, 2028, 8006];
    for (const kind of ['payout', 'reversal', 'return'] as const) {
      for (const ResultCode of codes) {
        const ResultDesc = 'The balance is insufficient for the transaction';
        const verdict = verdictOf(kind, aResult({ ResultCode, ResultDesc }));
        expect(verdict, `${kind} ${ResultCode}`).to.deep.include({
          outcome: 'failed',
          code: 90_000,
          description:
            kind === 'payout'
              ? 'Payout could not be sent, try again later'
              : 'Reversal could not be sent, try again later',
          operatorTrouble: `${ResultCode} ${ResultDesc}`,
        });
      }
    }
  });

  it('tell merchants of their recipient', () => {
    const failures: [unknown, number][] = [
      [2, 2],
      ['3', 3],
      [8, 8],
      [2040, 2040],
      [26, 26],
      ['SFC_IC0003', 90_001],
    ];
    for (const [ResultCode, code] of failures) {
      const verdict = verdictOf('payout', aResult({ ResultCode }));
      expect(verdict).to.include({ outcome: 'failed', code, externalRef: CONVERSATION });
      expect(verdict).to.not.have.property('operatorTrouble');
    }
  });

  it('fail nothing for an unknown code, nor for a reference that was taken before', () => {
    for (const ResultCode of [17, 19, 777, '100000009', '500.003.02']) {
      expect(verdictOf('payout', aResult({ ResultCode }))).to.include({
        outcome: 'unclear',
        code: `${ResultCode}`,
      });
    }
    expect(verdictOf('payout', aResult({ ResultCode: 15 }))).to.deep.equal({ outcome: 'pending' });
  });
});

describe('callbacks of Daraja about reversals', () => {
  const REVERSED = { Amount: '100.00', TransCompletedTime: 20191219102115 };

  it('tell the money, by Daraja’s own reference', () => {
    expect(parse('reversal', aResult({}, REVERSED))).to.deep.equal({
      reference: null,
      verdict: {
        ...PAID_OUT,
        externalRef: 'ref-1',
        amountCents: 100_00,
        account: null,
      },
    });
  });

  it('leave open by which request a payment was reversed before', () => {
    const body = aResult({ ResultCode: 'R000001', ResultDesc: 'Already reversed' }, REVERSED);
    const verdict = { outcome: 'unclear', code: 'R000001', hasMoved: true };
    expect(verdictOf('return', body)).to.include(verdict);
  });

  it('fail for a receipt that M-PESA does not know', () => {
    const body = aResult({ ResultCode: 'R000002' });
    expect(verdictOf('reversal', body)).to.include({ outcome: 'failed', code: 90_002 });
  });
});
