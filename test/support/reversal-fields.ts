import { RIGHT, TURNED, WRONG, WRONG_CURRENCY } from './collection-fields.ts';
import type { FieldCases } from './field-tests.ts';

const callbackUrls = <Row extends [field: string, ...rest: unknown[]]>(table: Row[]) =>
  table.filter(([field]) => field === 'callback_url');

/** What is no reference, but for its length. */
const NO_REFERENCES = ['a b', 'a/b', 'a.b', 'é', '🎉', 'a\u0000', 'a\n', '\ud800', 7, true, ['a']];

/** What a reversal's fields may be. */
export const REVERSAL_FIELDS: FieldCases = {
  required: ['checkout_ref_no', 'ref_no', 'callback_url'],
  wrong: [
    ['checkout_ref_no', 'Invalid checkout_ref_no', [...NO_REFERENCES, 'x'.repeat(51)]],
    ['ref_no', 'Invalid ref_no', [...NO_REFERENCES, 'x'.repeat(61)]],
    ...callbackUrls(WRONG),
    [
      'reason',
      'Invalid reason',
      ['x'.repeat(201), 'a\u0000b', 'a\nb', '\ud800', ...TURNED, 7, true, ['a'], { a: 1 }],
    ],
    WRONG_CURRENCY,
  ],
  right: [
    ['ref_no', ['x', 'x'.repeat(60), 'A-1_b', '0', '-', '__proto__', 'null', 'initiate']],
    ...callbackUrls(RIGHT),
    ['reason', ['x', '🎉'.repeat(200), "'; DROP TABLE reversals; --", ' ']],
  ],
};
