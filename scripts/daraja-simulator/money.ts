const CENTS_PER_SHILLING = 100;

/** Writes cents as shillings with two decimals: -10050 becomes "-100.50". */
export function formatShillings(cents: number): string {
  const sign = cents < 0 ? '-' : '';
  const shillings = Math.trunc(Math.abs(cents) / CENTS_PER_SHILLING);
  return `${sign}${shillings}.${String(Math.abs(cents) % CENTS_PER_SHILLING).padStart(2, '0')}`;
}

/** Returns cents that are whole shillings as a number of shillings. */
export function wholeShillings(cents: number): number {
  return Math.trunc(cents / CENTS_PER_SHILLING);
}

/** Returns half of an amount of whole shillings, or one shilling more if it cannot be halved. */
export function anotherAmount(cents: number): number {
  const half = Math.trunc(wholeShillings(cents) / 2);
  return half > 0 ? half * CENTS_PER_SHILLING : cents + CENTS_PER_SHILLING;
}

export type Floats = ReturnType<typeof createFloats>;

/** Keeps the money of each shortcode's utility account, in cents. */
export function createFloats(startCents: number) {
  const balances = new Map<string, number>();
  const balanceOf = (shortCode: string) => balances.get(shortCode) ?? startCents;
  return {
    balanceOf,
    credit(shortCode: string, cents: number): void {
      balances.set(shortCode, balanceOf(shortCode) + cents);
    },
    /** Returns false, and takes nothing, if the balance is too low. */
    debit(shortCode: string, cents: number): boolean {
      if (balanceOf(shortCode) < cents) return false;
      balances.set(shortCode, balanceOf(shortCode) - cents);
      return true;
    },
  };
}
