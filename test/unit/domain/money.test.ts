import { expect } from 'chai';
import fc from 'fast-check';
import {
  amountProblem,
  commissionOn,
  formatAmount,
  MAX_AMOUNT_CENTS,
  MIN_AMOUNT_CENTS,
  parseAmount,
} from '../../../src/domain/money.ts';

const amounts = fc.integer({ min: MIN_AMOUNT_CENTS, max: MAX_AMOUNT_CENTS });
const rates = fc.record({
  bps: fc.integer({ min: 0, max: 10_000 }),
  fixedCents: fc.integer({ min: 0, max: MAX_AMOUNT_CENTS }),
});

describe('An amount', () => {
  const ACCEPTED: Readonly<Record<string, number>> = {
    '1.00': 100,
    '1.01': 101,
    '0001.00': 100,
    '10.10': 1_010,
    '999999.99': 99_999_999,
  };
  for (const [text, cents] of Object.entries(ACCEPTED)) {
    it(`of ${text} is ${cents} cents`, () => {
      expect(parseAmount(text)).to.equal(cents);
    });
  }

  const REFUSED: unknown[] = [
    '0.99',
    '0.00',
    '1000000.00',
    '0000001.00',
    '1',
    '1.0',
    '1.000',
    '1,00',
    '.50',
    '1.',
    '+1.00',
    '-1.00',
    ' 1.00',
    '1.00 ',
    '1.00\n',
    '1e3',
    '1e2.00',
    '0x10.00',
    '1_000.00',
    '1,000.00',
    '１.００',
    '١.٠٠',
    'NaN',
    '',
    100,
    1.5,
    100n,
    null,
    undefined,
    true,
    ['1.00'],
    { toString: () => '1.00' },
  ];
  for (const value of REFUSED) {
    const written = typeof value === 'string' ? JSON.stringify(value) : `${typeof value} ${value}`;
    it(`is not ${written}`, () => {
      expect(parseAmount(value)).to.equal(null);
    });
  }

  const PROBLEMS: Readonly<Record<string, unknown[]>> = {
    amount_too_small: ['0.99', '0.00', '-1.00', '-0.00', '-1000000.00'],
    amount_too_large: ['1000000.00', `${'9'.repeat(50_000)}.00`],
    invalid_amount: [
      ...REFUSED.filter((value) => !/^-?[01]\d*\.\d\d$/.test(String(value))),
      '0000001.00',
    ],
  };
  for (const [problem, values] of Object.entries(PROBLEMS)) {
    it(`is called ${problem} when it is ${JSON.stringify(values.slice(0, 3).map(String))} and the like`, () => {
      for (const value of values)
        expect(amountProblem(value), String(value).slice(0, 20)).to.equal(problem);
    });
  }

  it('has no problem when it can be read', () => {
    fc.assert(
      fc.property(amounts, (cents) => {
        expect(amountProblem(formatAmount(cents))).to.equal(null);
      }),
    );
  });

  it('is read back from what is written, whatever the amount', () => {
    fc.assert(
      fc.property(amounts, (cents) => {
        expect(parseAmount(formatAmount(cents))).to.equal(cents);
      }),
    );
  });

  it('is read only from what would be written so, but for zeros in front', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\d.,+\- e]{0,12}$/), (text) => {
        const cents = parseAmount(text);
        if (cents !== null) expect(formatAmount(cents)).to.equal(text.replace(/^0+(?=\d)/, ''));
      }),
      { numRuns: 2_000 },
    );
  });

  const WRITTEN: [number, string][] = [
    [0, '0.00'],
    [1, '0.01'],
    [10, '0.10'],
    [100, '1.00'],
    [99_999_999, '999999.99'],
    [12_345_678_901, '123456789.01'],
    [-1, '-0.01'],
    [-12_345, '-123.45'],
  ];
  for (const [cents, text] of WRITTEN) {
    it(`of ${cents} cents is written ${text}`, () => {
      expect(formatAmount(cents)).to.equal(text);
    });
  }
});

describe('A commission', () => {
  const COMMISSIONS: [amountCents: number, bps: number, fixedCents: number, cents: number][] = [
    [10_000, 150, 0, 150],
    [100, 150, 0, 2],
    [133, 150, 0, 2],
    [99, 150, 0, 1],
    [10_000, 0, 0, 0],
    [10_000, 0, 500, 500],
    [10_000, 150, 500, 650],
    [10_000, 10_000, 0, 10_000],
    [10_000, 10_000, 1, 10_000],
    [100, 0, 1_000, 100],
    [99_999_999, 10_000, 0, 99_999_999],
    [99_999_999, 1, 0, 10_000],
  ];
  for (const [amount, bps, fixedCents, cents] of COMMISSIONS) {
    it(`on ${amount} at ${bps} basis points and ${fixedCents} is ${cents}`, () => {
      expect(commissionOn(amount, { bps, fixedCents })).to.equal(cents);
    });
  }

  it('is rounded half up to the cent', () => {
    // Exactly half a cent, and the smallest step below it.
    expect(commissionOn(100, { bps: 50, fixedCents: 0 })).to.equal(1);
    expect(commissionOn(300, { bps: 50, fixedCents: 0 })).to.equal(2);
    expect(commissionOn(4_999, { bps: 1, fixedCents: 0 })).to.equal(0);
    expect(commissionOn(5_000, { bps: 1, fixedCents: 0 })).to.equal(1);
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 10_000 }), (amount, bps) => {
        const exact = BigInt(amount) * BigInt(bps);
        const halfUp = (exact * 2n + 10_000n) / 20_000n;
        expect(BigInt(commissionOn(amount, { bps, fixedCents: 0 }))).to.equal(halfUp);
      }),
    );
  });

  it('is a whole number between nothing and the amount, whatever the rate', () => {
    fc.assert(
      fc.property(amounts, rates, (amount, rate) => {
        const commission = commissionOn(amount, rate);
        expect(Number.isSafeInteger(commission)).to.equal(true);
        expect(commission).to.be.within(0, amount);
      }),
    );
  });

  it('never falls when the amount grows', () => {
    fc.assert(
      fc.property(amounts, amounts, rates, (one, other, rate) => {
        const [less, more] = one < other ? [one, other] : [other, one];
        expect(commissionOn(less, rate)).to.be.at.most(commissionOn(more, rate));
      }),
    );
  });
});
