import type { Reader } from './command.ts';
import { wrong } from './readers.ts';

/** What one entry, or a fixed commission, may be at most: far above a day's top-up. */
const AMOUNT = /^(-?)(\d{1,9})\.(\d{2})$/;

function centsOf(raw: string): number {
  const [, sign, whole, cents] = AMOUNT.exec(raw) ?? [];
  if (whole === undefined) return Number.NaN;
  return (sign ? -1 : 1) * Number(`${whole}${cents}`);
}

/** More than nothing, in cents. */
export const positiveAmount: Reader<number> = {
  placeholder: 'AMOUNT',
  read: (raw) => {
    const cents = centsOf(raw);
    if (!(cents > 0)) {
      throw wrong('an amount from 0.01 to 999999999.99 with two decimals, such as 100.00', raw);
    }
    return cents;
  },
};

/** More or less than nothing, in cents. */
export const signedAmount: Reader<number> = {
  placeholder: 'AMOUNT',
  read: (raw) => {
    const cents = centsOf(raw);
    if (Number.isNaN(cents) || cents === 0) {
      throw wrong('an amount with two decimals that is not zero, such as 100.00 or -100.00', raw);
    }
    return cents;
  },
};

/** Nothing or more, in cents. */
export const feeAmount: Reader<number> = {
  placeholder: 'AMOUNT',
  read: (raw) => {
    const cents = centsOf(raw);
    if (!(cents >= 0) || raw.startsWith('-')) {
      throw wrong('an amount of 0.00 or more with two decimals, such as 5.00', raw);
    }
    return cents;
  },
};
