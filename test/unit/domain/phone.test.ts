import { expect } from 'chai';
import { isKenyanMobile, kenyanMobileIn, maskPhones } from '../../../src/domain/text.ts';

const MOBILES = [
  '+254712345678',
  '+254733123456',
  '+254110123456',
  '+254100123456',
  '+254770123456',
  '+254744123456',
];

const OTHERS: Readonly<Record<string, unknown>> = {
  'without its plus': '254712345678',
  'in national form': '0712345678',
  'with 00 in front': '00254712345678',
  'with spaces': '+254 712 345 678',
  'with dashes': '+254-712-345-678',
  'with white space around it': ' +254712345678',
  'with a line end': '+254712345678\n',
  'with an extension': '+254712345678;ext=1',
  'with a zero after the code': '+2540712345678',
  'one digit short': '+25471234567',
  'one digit long': '+2547123456789',
  'with a letter in it': '+25471234567a',
  'in full-width digits': '+２５４７１２３４５６７８',
  'a landline': '+254202345678',
  'a freephone number': '+254800723253',
  'of Tanzania': '+255712345678',
  'of Uganda': '+256712345678',
  'of the United States': '+12125550123',
  'of a country that does not exist': '+999712345678',
  'a URI': 'tel:+254712345678',
  'its country code alone': '+254',
  'a plus': '+',
  'an empty text': '',
  'a number': 254712345678,
  null: null,
  undefined: undefined,
  'a list': ['+254712345678'],
  'an object': { toString: () => '+254712345678' },
};

describe('A phone', () => {
  for (const phone of MOBILES) {
    it(`is Kenyan and mobile when it is ${phone}`, () => {
      expect(isKenyanMobile(phone)).to.equal(true);
    });
  }

  for (const [what, value] of Object.entries(OTHERS)) {
    it(`is refused when it is ${what}`, () => {
      expect(isKenyanMobile(value)).to.equal(false);
    });
  }
});

describe('A phone as people write it', () => {
  const FORMS = [
    ...['0712345037', '712345037', '254712345037', '+254712345037', '0712 345 037'],
    ...['(0712) 345037', '0712.345.037', '00254712345037', '+254 (712) 345 037'],
    ...['0712-345-037', '+254 712 345 037', '+254-712-345037', '254 712 345037'],
  ];

  for (const form of FORMS) {
    it(`is read from ${form}`, () => {
      expect(kenyanMobileIn(form)).to.equal('+254712345037');
    });
  }

  it('is read with the prefixes of every carrier', () => {
    expect(kenyanMobileIn('0110123456')).to.equal('+254110123456');
    expect(kenyanMobileIn('100123456')).to.equal('+254100123456');
  });

  for (const text of [
    ...['', '1042', '63902', '07123450371', '071234503', 'order-0712345037', '0202345678'],
    ...[
      '+255712345678',
      '0712345037 x',
      '0712--345037',
      '0712((345037',
      '0712)345037)',
      '+',
      '0199f0c0-5a3e-7cc1',
    ],
  ]) {
    it(`is not read from ${JSON.stringify(text)}`, () => {
      expect(kenyanMobileIn(text)).to.equal(undefined);
    });
  }
});

describe('Phones in a text that is kept', () => {
  const KEPT: Readonly<Record<string, string>> = {
    '0722 000 777': '+254******777',
    '(0722) 000.777': '+254******777',
    '+254722000777': '+254******777',
    'order of 0722000777, paid by 254733123456': 'order of 0******777, paid by 254******456',
    'order-1042': 'order-1042',
    '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e': '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e',
    '25472200077712': '25472200077712',
  };
  for (const [text, kept] of Object.entries(KEPT)) {
    it(`are masked: ${text}`, () => {
      expect(maskPhones(text)).to.equal(kept);
    });
  }
});
