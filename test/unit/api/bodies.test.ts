import { expect } from 'chai';
import { ERROR_ANSWERS, errorBody } from '../../../src/api/error-answers.ts';
import {
  appCredentials,
  firstOtp,
  logIn,
  newCollection,
  newPassword,
  newPayout,
  newReversal,
  newTransfer,
  ownPassword,
  passwordAndOtp,
  refreshToken,
} from '../../../src/api/schemas/bodies.ts';
import { bodyParser, type InputSchema } from '../../../src/api/schemas/validator.ts';
import { Refusal } from '../../../src/domain/errors.ts';
import { collectionBody, payoutBody, reversalBody } from '../../support/api-client.ts';
import { COLLECTION_FIELDS, RIGHT, WRONG } from '../../support/collection-fields.ts';
import type { FieldCases } from '../../support/field-tests.ts';
import { PAYOUT_FIELDS } from '../../support/payout-fields.ts';
import { REVERSAL_FIELDS } from '../../support/reversal-fields.ts';

type Fields = Record<string, unknown>;

interface Body {
  schema: InputSchema;
  cases: FieldCases;
  valid: Fields;
}

const NO_TEXTS = [7, true, ['x'], { a: 1 }];
const NO_PLAIN_TEXTS = [...NO_TEXTS, 'a\u0000b', '\ud800'];
const isShared = ([field]: [field: string, ...rest: unknown[]]) => /amount|ref_no/.test(field);

/** What each request may be, and what it may not, in the words of the answer. */
const BODIES: Readonly<Record<string, Body>> = {
  'a new collection': {
    schema: newCollection,
    cases: COLLECTION_FIELDS,
    valid: collectionBody({ app_code: 5001 }),
  },
  'a new payout': {
    schema: newPayout,
    cases: PAYOUT_FIELDS,
    valid: payoutBody({ app_code: 5001 }),
  },
  'a new reversal': {
    schema: newReversal,
    cases: REVERSAL_FIELDS,
    valid: reversalBody('order-1'),
  },
  'a new transfer': {
    schema: newTransfer,
    cases: {
      required: ['amount', 'ref_no'],
      wrong: WRONG.filter(isShared),
      right: RIGHT.filter(isShared),
    },
    valid: { amount: '1.00', ref_no: 't1' },
  },
  'the credentials of an app': {
    schema: appCredentials,
    cases: {
      required: ['app_key', 'app_secret'],
      wrong: ['app_key', 'app_secret'].map((field) => [
        field,
        `Invalid ${field}`,
        [...NO_PLAIN_TEXTS, 'x'.repeat(201)],
      ]),
      right: [['app_key', ['x'.repeat(200), "' OR '1'='1", 'ak_🎉', ' ', '__proto__', '%00']]],
    },
    valid: { app_key: 'k', app_secret: 's' },
  },
  'the credentials of a person': {
    schema: logIn,
    cases: {
      required: ['email', 'password'],
      wrong: [
        ['email', 'Invalid email', [...NO_PLAIN_TEXTS, 'x'.repeat(255)]],
        ['password', 'Invalid password', [...NO_PLAIN_TEXTS, 'x'.repeat(201)]],
        ['otp', 'Invalid otp', [...NO_PLAIN_TEXTS, 'x'.repeat(41)]],
      ],
      right: [
        ['email', ['x'.repeat(254)]],
        ['password', ['x'.repeat(200)]],
        ['otp', ['', '123456', '3f9a1-c04be-7d218-9e6f5']],
      ],
    },
    valid: { email: 'a@x.example', password: 'p' },
  },
  'a new password': {
    schema: newPassword,
    cases: {
      required: ['old_password', 'new_password'],
      wrong: [
        ['old_password', 'Invalid old_password', NO_PLAIN_TEXTS],
        [
          'new_password',
          'Invalid new_password',
          [...NO_PLAIN_TEXTS, 'x'.repeat(11), 'x'.repeat(129), 'two lines\nof a password'],
        ],
      ],
      right: [['new_password', ['x'.repeat(12), 'x'.repeat(128)]]],
    },
    valid: { old_password: 'p', new_password: 'x'.repeat(12) },
  },
  'a password again': {
    schema: ownPassword,
    cases: { required: ['password'], wrong: [['password', 'Invalid password', [7]]], right: [] },
    valid: { password: 'p' },
  },
  'a password and a one-time password': {
    schema: passwordAndOtp,
    cases: {
      required: ['password', 'otp'],
      wrong: [['otp', 'Invalid otp', NO_PLAIN_TEXTS]],
      right: [],
    },
    valid: { password: 'p', otp: '123456' },
  },
  'a first one-time password': {
    schema: firstOtp,
    cases: { required: ['otp'], wrong: [['otp', 'Invalid otp', NO_TEXTS]], right: [] },
    valid: { otp: '123456' },
  },
  'a refresh token': {
    schema: refreshToken,
    cases: {
      required: ['refresh'],
      wrong: [['refresh', 'Invalid refresh', [...NO_TEXTS, 'x'.repeat(4_097)]]],
      right: [['refresh', ['x'.repeat(4_096)]]],
    },
    valid: { refresh: 'x' },
  },
};

for (const [what, { schema, cases, valid }] of Object.entries(BODIES)) {
  describe(`The body of ${what}`, () => {
    const parse = bodyParser(schema);

    /** The status and the text with which the API refuses it; null when it does not. */
    function refusal(fields: Fields): [status: number, detail: string] | null {
      try {
        // As it comes over the wire, where undefined is nothing.
        parse(JSON.parse(JSON.stringify(fields)));
        return null;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { detail } = errorBody(error.code, error.subject);
        return [ERROR_ANSWERS[error.code].status, detail];
      }
    }

    it('must have its fields, which are asked for in the order of the table', () => {
      for (const [index, field] of cases.required.entries()) {
        const asked = [400, `${field} field is required`];
        for (const missing of [undefined, null, '']) {
          expect(refusal({ ...valid, [field]: missing })).to.deep.equal(asked);
        }
        const rest = cases.required.slice(index).map((name) => [name, null]);
        const before = cases.required.slice(0, index).map((name) => [name, 7]);
        const others = Object.fromEntries([...before, ...rest]);
        expect(refusal({ ...valid, ...others }), 'before what is wrong').to.deep.equal(asked);
      }
      expect(refusal({})).to.deep.equal([400, `${cases.required[0]} field is required`]);
    });

    for (const [field, text, values] of cases.wrong) {
      it(`is refused with "${text}" for what cannot be ${field}`, () => {
        for (const value of values) {
          const shown = JSON.stringify(value).slice(0, 40);
          expect(refusal({ ...valid, [field]: value }), shown).to.deep.equal([400, text]);
        }
      });
    }

    it('is refused for the first field that is wrong, in the order of the table', () => {
      const all = new Map(cases.wrong.toReversed().map(([field, , [value]]) => [field, value]));
      for (const [field, text] of cases.wrong) {
        if (!all.has(field)) continue;
        const wrong = Object.fromEntries(all);
        expect(refusal({ ...valid, ...wrong }), field).to.deep.equal([400, text]);
        all.delete(field);
      }
    });

    for (const [field, values] of cases.right) {
      it(`takes what can be ${field}, to the letter`, () => {
        for (const value of values) {
          expect((parse({ ...valid, [field]: value }) as Fields)[field]).to.equal(value);
        }
      });
    }
  });
}

describe('A body', () => {
  const parse = bodyParser(newTransfer);

  it('is an object', () => {
    for (const body of [null, undefined, [], 'x', 7]) {
      expect(() => parse(body)).to.throw(Refusal, 'invalid_request');
    }
  });

  it('is read without the fields that are not for the caller to set', () => {
    const fields = { amount: '1.00', ref_no: 't1' };
    expect(parse({ ...fields, status: 'completed', amount_cents: 1 })).to.deep.equal(fields);
  });

  it('says why an amount is wrong, and which field is to blame', () => {
    for (const [amount, code] of [
      ['0.99', 'amount_too_small'],
      ['1000000.00', 'amount_too_large'],
      ['1.5', 'invalid_amount'],
      [1, 'invalid_amount'],
    ] as const) {
      expect(() => parse({ amount, ref_no: 't1' })).to.throw(Refusal, code);
      expect(errorBody(code, 'amount')).to.deep.equal({
        detail: 'Invalid amount',
        code,
        field: 'amount',
      });
    }
  });

  it('of a payout names its app', () => {
    const parsePayout = bodyParser(newPayout);
    const { app_code: _named, ...bare } = payoutBody({ app_code: 1 });
    expect(() => parsePayout(bare)).to.throw(Refusal, 'field_required: app_code');
    expect(() => parsePayout({ ...bare, app_code: '5001' })).to.throw(Refusal, 'app_code');
  });

  it('has no fields from a prototype', () => {
    const inherited = Object.create({ amount: '1.00', ref_no: 't1' });
    expect(() => parse(inherited)).to.throw(Refusal, 'field_required: amount');
  });
});
