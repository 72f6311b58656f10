import { expect } from 'chai';
import { client, EXTERNAL_REF, PAID, paid, parse, stk, verdictOf } from './callback-fixtures.ts';
import { aGateway } from './daraja-support.ts';

describe('callbacks of Daraja about prompts', () => {
  it('tell the money by the items’ names, whatever their order and types', () => {
    expect(parse('collection', paid())).to.deep.equal({ reference: null, verdict: PAID });
    const texts = paid(
      { Name: 'Amount', Value: '1.00' },
      { Name: 'TransactionDate', Value: '20191219102115' },
      { Name: 'PhoneNumber', Value: '254708374149' },
      { Name: 'Balance', Value: '{Amount={CurrencyCode=KES, BasicAmount=1.00}}' },
    );
    expect(verdictOf('collection', texts)).to.deep.equal(PAID);
  });

  it('may lack every item, or have one that is not in a list', () => {
    const nothing = { ...PAID, transId: null, amountCents: null, account: null, completedAt: null };
    for (const body of [stk(), stk({ CallbackMetadata: { Item: [] } }), stk({ ResultCode: '0' })]) {
      // Without an amount it may be a large one.
      expect(verdictOf('collection', body)).to.deep.equal({ ...nothing, mustConfirm: true });
    }
    const single = stk({ CallbackMetadata: { Item: { Name: 'Amount', Value: 250 } } });
    expect(verdictOf('collection', single)).to.deep.equal({ ...nothing, amountCents: 250_00 });
  });

  it('count cents exactly, and do not guess an amount', () => {
    const amounts: [unknown, number][] = [
      [1234.5, 1234_50],
      ['0.29', 29],
      [1.1, 110],
      ['250000', 250_000_00],
    ];
    for (const [Value, amountCents] of amounts) {
      expect(verdictOf('collection', paid({ Name: 'Amount', Value }))).to.include({ amountCents });
    }
    for (const Value of ['1.005', '1e3', -1, 0, 'x', {}, '1,000.00', '99999999999']) {
      expect(verdictOf('collection', paid({ Name: 'Amount', Value }))).to.include({
        outcome: 'unclear',
      });
    }
  });

  it('tell no account when the number is masked, hashed or odd', () => {
    for (const Value of ['25470****149', 'a'.repeat(64), '', null, 25470837, '0000']) {
      expect(verdictOf('collection', paid({ Name: 'PhoneNumber', Value }))).to.include({
        account: null,
      });
    }
  });

  it('must be confirmed above the configured amount', () => {
    const large = paid({ Name: 'Amount', Value: 50_001 });
    expect(verdictOf('collection', large)).to.include({ mustConfirm: true });
    expect(verdictOf('collection', paid({ Name: 'Amount', Value: 50_000 }))).to.not.have.property(
      'mustConfirm',
    );
    const trusting = aGateway(client).parseCallback(JSON.stringify(large), {
      kind: 'collection',
      address: 'result',
    });
    expect(trusting?.verdict).to.not.have.property('mustConfirm');
  });

  it('tell failures with the gateway’s code', () => {
    for (const code of [1, 2, 3, 4, 17, 26, 1001, 1019, 1025, 1031, 1032, 1036, 1037]) {
      for (const ResultCode of [code, `${code}`]) {
        const verdict = verdictOf('collection', stk({ ResultCode, ResultDesc: 'DS timeout' }));
        expect(verdict).to.include({ outcome: 'failed', code, externalRef: EXTERNAL_REF });
        expect(verdict).to.not.have.property('operatorTrouble');
      }
    }
    for (const code of [2001, 8006, 9999]) {
      expect(verdictOf('collection', stk({ ResultCode: code }))).to.include({ code });
    }
  });

  it('tell the operator’s troubles apart', () => {
    for (const ResultCode of ['2028', 'SFC_IC0003', 8]) {
      expect(verdictOf('collection', stk({ ResultCode, ResultDesc: 'Words' }))).to.deep.equal({
        outcome: 'failed',
        code: 90_000,
        description: 'Payment could not be requested, try again later',
        operatorTrouble: `${ResultCode} Words`,
        externalRef: EXTERNAL_REF,
      });
    }
  });

  it('fail nothing for a code that nobody knows, nor for a payment under way', () => {
    expect(
      verdictOf('collection', stk({ ResultCode: 4242, ResultDesc: 'N\u0000ew' })),
    ).to.deep.equal({ outcome: 'unclear', code: '4242', description: 'N ew' });
    const pending = { outcome: 'pending' };
    expect(verdictOf('collection', stk({ ResultCode: 4999 }))).to.deep.equal(pending);
    const live = stk({ ResultCode: 1037, ResultDesc: 'Request still under processing' });
    expect(verdictOf('collection', live)).to.deep.equal(pending);
  });
});
