/** All amounts are integer cents of a Kenyan shilling. Only the API and gateways have text. */

const AMOUNT_TEXT = /^\d{1,6}\.\d{2}$/;
export const MIN_AMOUNT_CENTS = 100;
export const MAX_AMOUNT_CENTS = 99_999_999;

/** The amounts that the API takes at all. A channel may carry fewer. */
export const ANY_AMOUNT = { minCents: MIN_AMOUNT_CENTS, maxCents: MAX_AMOUNT_CENTS, stepCents: 1 };

/** Reads an amount of 1.00 to 999999.99 with two decimals. @returns null for anything else. */
export function parseAmount(value: unknown): number | null {
  if (typeof value !== 'string' || !AMOUNT_TEXT.test(value)) return null;
  const cents = Number(value.replace('.', ''));
  return cents >= MIN_AMOUNT_CENTS && cents <= MAX_AMOUNT_CENTS ? cents : null;
}

export const AMOUNT_PROBLEMS = ['invalid_amount', 'amount_too_small', 'amount_too_large'] as const;

const DECIMAL = /^-?\d+\.\d{2}$/;

/** Says why a value is no amount: not written as one, or out of bounds. @returns null for an amount. */
export function amountProblem(value: unknown): (typeof AMOUNT_PROBLEMS)[number] | null {
  if (parseAmount(value) !== null) return null;
  if (typeof value !== 'string' || !DECIMAL.test(value)) return 'invalid_amount';
  const cents = Number(value.replace('.', ''));
  if (cents < MIN_AMOUNT_CENTS) return 'amount_too_small';
  return cents > MAX_AMOUNT_CENTS ? 'amount_too_large' : 'invalid_amount';
}

/** Writes cents with two decimals, and with a leading minus when negative. */
export function formatAmount(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The rate of a commission: basis points of the amount plus a fixed part in cents. */
export interface Rate {
  bps: number;
  fixedCents: number;
}

const BPS_PER_UNIT = 10_000;

/** Computes the commission on an amount: rounded half up to the cent, never above the amount. */
export function commissionOn(amountCents: number, { bps, fixedCents }: Rate): number {
  const share = Math.floor((amountCents * bps + BPS_PER_UNIT / 2) / BPS_PER_UNIT);
  return Math.min(amountCents, share + fixedCents);
}

/** Returns cents as an amount, such as `KES 1,234.50`. */
export function kes(cents: number): string {
  const [whole = '', fraction] = formatAmount(cents).split('.');
  return `KES ${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}
