import { isDay } from '../period.ts';
import { isMasked } from '../settlement/same-account.ts';

/* The values of the cells of a row, as statements write them. */

/** Writes an account as payments have it. A customer's or a bank's name may follow it. */
export function accountOf(party: string | null, isMobileMoney: boolean): string | null {
  if (party === null) return null;
  return isMobileMoney ? phoneOf(party) : bankAccountOf(party);
}

/** Payments have no shorter account. */
const MIN_ACCOUNT_LENGTH = 5;

/** Reads the number of a bank account. Returns null for a name alone, and for a number with hidden digits. */
function bankAccountOf(party: string): string | null {
  const parts = party.split(/[\s().-]+/).filter((part) => part !== '');
  const isOfNumber = (part: string) => /\d/.test(part);
  const end = parts.findIndex((part) => !isOfNumber(part));
  const [number, name] = end < 0 ? [parts, []] : [parts.slice(0, end), parts.slice(end)];
  const written = number.join('');
  const isPlain = /^[a-z\d]+$/i.test(written) && !/xx/i.test(written) && !name.some(isOfNumber);
  return isPlain && written.length >= MIN_ACCOUNT_LENGTH ? written : null;
}

/**
 * Writes a phone as E.164, whole or with hidden digits: 254712345678, 2547 ***** 126, 0712-345-678, 712345678 of a
 * spreadsheet, 2547XXXXX678. What is no phone says nothing, and proves nothing.
 */
function phoneOf(party: string): string | null {
  const account = party
    .split(' - ', 1)[0]!
    // Of a number, as a spreadsheet writes it.
    .replace(/^(\d{9,12})\.0{1,2}$/, '$1')
    .replace(/[\s().-]/g, '')
    .replace(/x/gi, '*')
    .replace(/^00/, '+')
    .replace(/^(254|0)(?=[\d*]{7,}$)/, '+254')
    .replace(/^(?=[17]\d{8}$)/, '+254');
  return isMasked(account) || /^\+\d{8,15}$/.test(account) ? account : null;
}

/** A statement may write an outgoing amount with a minus. Here the kind says the direction. */
const AMOUNT = /^-?(\d{1,3}(?:,\d{3})+|\d{1,10})(?:\.(\d{1,2}))?$/;

export function centsOf(text: string): number | null {
  const [, shillings, decimals = ''] = AMOUNT.exec(text) ?? [];
  if (shillings === undefined) return null;
  const cents = Number(`${shillings.replaceAll(',', '')}${decimals.padEnd(2, '0')}`);
  return cents > 0 && Number.isSafeInteger(cents) ? cents : null;
}

/** Reads a balance, which may be zero or below it. */
export function balanceOf(text: string): number | null {
  if (/^-?0*(\.0*)?$/.test(text)) return text === '' ? null : 0;
  const cents = centsOf(text);
  return cents !== null && text.startsWith('-') ? -cents : cents;
}

const DAY_FIRST = /^(\d\d)[/-](\d\d)[/-](\d{4}) (\d\d:\d\d:\d\d)$/;
const DAY = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(Z|[+-]\d\d:\d\d)?$/;

/** Reads `YYYY-MM-DD HH:MM:SS` with or without an offset, or `DD/MM/YYYY HH:MM:SS`. */
export function timeOf(text: string, utcOffset: string): Date | null {
  const yearFirst = text.replace(DAY_FIRST, '$3-$2-$1 $4');
  const [, day = '', time, offset = utcOffset] = DAY.exec(yearFirst) ?? [];
  if (!isDay(day)) return null;
  const moment = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}
