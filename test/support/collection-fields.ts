import type { FieldCases } from './field-tests.ts';

/** The required fields of a request, in the order of the documented table. */
const REQUIRED = ['payfrom', 'amount', 'ref_no', 'account_number', 'callback_url'];

/** Texts that show other words than they have: each control of the reading direction. */
export const TURNED = [
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
  ...['\u2066', '\u2067', '\u2068', '\u2069'],
].map((control) => `INV-${control}001`);

/** A currency of which no money here is. */
export const WRONG_CURRENCY: FieldCases['wrong'][number] = [
  'currency',
  'Invalid currency',
  ['USD', '', 'kes', 'KES ', 404, true, ['KES'], { code: 'KES' }],
];

/** Values that are wrong for a field, and what the caller is told of them. */
export const WRONG: FieldCases['wrong'] = [
  [
    'payfrom',
    'Invalid phone number',
    [
      ...['254712345678', '0712345678', '+254 712345678', '+25471234567', '+2547123456789'],
      ...['+254202345678', '+255712345678', '+254712345678\u0000', 'me'],
      ...['+2540712345678', 254712345678, true, ['+254712345678'], { phone: '+254712345678' }],
    ],
  ],
  [
    'amount',
    'Invalid amount',
    [
      ...[
        '0.99',
        '0.00',
        '1000000.00',
        '-1.00',
        '1',
        '1.0',
        '1.000',
        '1,00',
        '1e3',
        'NaN',
        ' 1.00',
      ],
      ...['1.00 ', '١.٠٠', '0x1.00', 100, 1.5, 0, false, ['1.00'], { value: '1.00' }],
    ],
  ],
  [
    'ref_no',
    'Invalid ref_no',
    [
      ...['x'.repeat(51), 'a b', 'a/b', 'a.b', 'é', '🎉', 'a\u0000', 'a\n', '\ud800', "a'b", '%41'],
      ...[7, 0, true, false, ['a'], { a: 1 }],
    ],
  ],
  [
    'account_number',
    'Invalid account_number',
    [
      ...['x'.repeat(51), 'a\u0000b', 'a\nb', '\ud800', 'x\udfff', '\u007f', ...TURNED],
      ...[7, true, ['a'], { a: 1 }],
    ],
  ],
  [
    'callback_url',
    'Invalid callback_url',
    [
      ...['shop.example/hook', '//shop.example/', '/hook', 'ftp://shop.example/', 'javascript:x'],
      ...['http://', 'http://user@shop.example/', 'http://user:pass@shop.example/', 'http://:p@x/'],
      ...[
        'http://shop example/',
        ' http://shop.example/',
        'http://shop.example/\n',
        'http:\\\\x\\',
      ],
      ...['http:shop.example', 'http:/shop.example', 'http:///shop.example', 'http://x:99999/'],
      `https://${'ü'.repeat(60)}.${'ö'.repeat(60)}.${'ä'.repeat(60)}.${'é'.repeat(60)}.example/`,
      ...['http://[::1/', 'http://shop.example/\u0000', 'http://shop.example/\ud800'],
      ...TURNED.map((text) => `http://shop.example/${text}`),
      ...[`http://shop.example/${'x'.repeat(2_048)}`, 7, true, ['http://x/'], { url: 'http://x/' }],
    ],
  ],
  WRONG_CURRENCY,
];

/** Values that are just right. */
export const RIGHT: FieldCases['right'] = [
  ['payfrom', ['+254712345678', '+254110123456', '+254733123456', '+254770123456']],
  ['amount', ['1.00', '999999.99', '000001.00', '100.01']],
  ['ref_no', ['x', 'x'.repeat(50), 'A-1_b', '0', '-', '__proto__', 'DROP-TABLE', 'null']],
  [
    'account_number',
    [
      'x',
      'x'.repeat(50),
      ' ',
      '🎉',
      "'; DROP TABLE collections; --",
      '__proto__',
      '{"a":1}',
      '%00',
    ],
  ],
  [
    'callback_url',
    [
      'http://shop.example',
      'https://shop.example:8443/hook?a=1&b=%20#x',
      'HTTPS://SHOP.EXAMPLE/',
      'http://127.0.0.1:9/',
      'http://[::1]:9/',
      `http://shop.example/${'x'.repeat(2_028)}`,
    ],
  ],
];

export const COLLECTION_FIELDS: FieldCases = { required: REQUIRED, wrong: WRONG, right: RIGHT };
