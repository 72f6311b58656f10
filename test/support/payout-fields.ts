import { RIGHT, TURNED, WRONG, WRONG_CURRENCY } from './collection-fields.ts';
import type { FieldCases } from './field-tests.ts';

const SHARED = ['amount', 'ref_no', 'callback_url'];
const like = <Row extends [field: string, ...rest: unknown[]]>(table: Row[]) =>
  table.filter(([field]) => SHARED.includes(field));

/** What a payout's fields may be; its recipient and channel have a table of their own. */
export const PAYOUT_FIELDS: FieldCases = {
  required: ['payto', 'amount', 'ref_no', 'callback_url', 'app_code'],
  wrong: [
    [
      'payto',
      'Invalid phone number',
      [
        ...['0712345678', '254712345678', '254110123456', '+254 712345678', '+25471234567', '+'],
        ...['+2547123456789', '+254202345678', '+255712345678', '+254744123456', '+me'],
        ...['+254712345678\u0000', '+2540712345678', '+\ud800'],
      ],
    ],
    [
      'payto',
      'Invalid payto',
      [
        ...[
          '1234',
          'x'.repeat(35),
          '0110 123456',
          '0110-123456',
          'é1234',
          '12345\u0000',
          '12345\n',
        ],
        ...['\ud8001234', "1234'5", 254712345678, true, ['+254712345678'], { phone: '1' }],
      ],
    ],
    ...like(WRONG),
    ['category', 'Invalid category', ['', 'Other', 'gambling', 'other ', 1, true, ['other'], {}]],
    [
      'narration',
      'Invalid narration',
      ['x'.repeat(201), 'a\u0000b', 'a\nb', '\ud800', ...TURNED, 7, true, ['a'], { a: 1 }],
    ],
    ['channel', 'Invalid channel', ['63902', '', 1.5, true, [63902], { code: 63902 }]],
    ['app_code', 'Invalid app_code', ['5001', 0, -1, 1.5, 1e300, true, [5001], { code: 5001 }]],
    WRONG_CURRENCY,
  ],
  right: [
    ['payto', ['+254712345678', '+254110123456', '+254733123456', '+254770123456']],
    ...like(RIGHT),
    ['category', ['ecommerce', 'gaming', 'adult_content', 'forex', 'other']],
    ['narration', ['x', '🎉'.repeat(200), "'; DROP TABLE payouts; --", ' ']],
  ],
};
