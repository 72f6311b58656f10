import { expect } from 'chai';
import fc from 'fast-check';
import {
  CALLBACK_ADDRESSES,
  type GatewayPaymentKind,
} from '../../../../src/domain/gateway-results.ts';
import { B2C, ITEMS, paid, parse, stk } from './callback-fixtures.ts';
import { aResult } from './daraja-support.ts';

const KINDS: GatewayPaymentKind[] = ['collection', 'payout', 'reversal', 'return'];

describe('callbacks of Daraja at each address', () => {
  it('say nothing at the address for timeouts', () => {
    for (const kind of ['payout', 'reversal', 'return'] as const) {
      for (const body of [aResult({}, B2C), aResult({ ResultCode: 1 })]) {
        expect(parse(kind, body, 'timeout')).to.deep.equal({
          reference: null,
          verdict: { outcome: 'pending' },
        });
      }
    }
  });

  it('are nothing at the address of another product', () => {
    for (const address of CALLBACK_ADDRESSES) {
      // Any transaction is asked about in one way.
      if (address !== 'receipt') {
        expect(parse('collection', aResult({}, B2C), address)).to.equal(null);
      }
      for (const kind of ['payout', 'reversal', 'return'] as const) {
        expect(parse(kind, paid(), address)).to.equal(null);
      }
      if (address !== 'result') expect(parse('collection', paid(), address)).to.equal(null);
    }
    const answer = aResult({}, { ...B2C, TransactionStatus: 'Declined' });
    for (const kind of ['payout', 'reversal', 'return'] as const) {
      expect(parse(kind, answer)).to.equal(null);
    }
  });

  it('are nothing when Daraja did not write them', () => {
    const bodies = ['', '{', 'null', '[]', '{"Body":{}}', '{"Result":{}}', '{"Result":[]}', '7'];
    const almost = [
      stk({ CheckoutRequestID: false }),
      stk({ ResultCode: null }),
      aResult({ ResultCode: {} }),
      aResult({ OriginatorConversationID: null, ConversationID: {} }),
    ];
    for (const body of [...bodies, ...almost]) {
      for (const kind of KINDS) {
        for (const address of CALLBACK_ADDRESSES) {
          expect(parse(kind, body, address), JSON.stringify(body)).to.equal(null);
        }
      }
    }
  });

  it('never throw, whatever they hold', () => {
    const wild = fc.oneof(
      fc.jsonValue(),
      fc.constant({ toString: 1, valueOf: 1 }),
      fc.constantFrom('0', 0, 1, '1', 'x\u0000', '\ud800', 'Completed', 1e300),
    );
    const named = fc.record({ Key: wild, Name: wild, Value: wild }, { requiredKeys: [] });
    const known = fc.constantFrom(...[...Object.keys(B2C), ...ITEMS.map(({ Name }) => Name)]);
    const item = fc.oneof(named, fc.record({ Key: known, Value: wild }));
    const list = fc.oneof(wild, item, fc.array(item));
    const stkBody = fc
      .record({ CheckoutRequestID: wild, ResultCode: wild, ResultDesc: wild, Item: list })
      .map(({ Item, ...fields }) => stk({ ...fields, CallbackMetadata: { Item } }));
    const result = fc
      .record(
        { ResultCode: wild, ResultDesc: wild, ConversationID: wild, ResultParameter: list },
        { requiredKeys: [] },
      )
      .map(({ ResultParameter, ...fields }) =>
        aResult({ ...fields, ResultParameters: { ResultParameter } }),
      );
    const body = fc.oneof(
      fc.string(),
      fc.oneof(wild, stkBody, result).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(
        body,
        fc.constantFrom(...KINDS),
        fc.constantFrom(...CALLBACK_ADDRESSES),
        (text, kind, address) => {
          const callback = parse(kind, text, address);
          const verdict = callback?.verdict;
          if (verdict?.outcome === 'failed') expect(verdict.code).to.not.equal(0);
          expect(JSON.stringify(callback) ?? '').to.not.include('\\u0000');
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
