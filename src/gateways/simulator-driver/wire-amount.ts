const CENTS_PER_SHILLING = 100;
/** At most ten digits of shillings, so that the amount in cents is an exact integer. */
const AMOUNT = /^(?:0|[1-9]\d{0,9})\.\d{2}$/;

/**
 * Writes integer cents as the simulator does: 10000 becomes "100.00".
 * @throws RangeError for anything but a positive integer
 */
export function formatWireAmount(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents <= 0) {
    throw new RangeError(`Not a positive integer of cents: ${cents}`);
  }
  const shillings = Math.trunc(cents / CENTS_PER_SHILLING);
  return `${shillings}.${String(cents % CENTS_PER_SHILLING).padStart(2, '0')}`;
}

/** Reads "100.00" as integer cents. Returns null for any other form, and for 0.00. */
export function parseWireAmount(value: unknown): number | null {
  if (typeof value !== 'string' || !AMOUNT.test(value)) return null;
  const cents = Number(value.replace('.', ''));
  return cents > 0 ? cents : null;
}
