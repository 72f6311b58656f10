import { formatAmount } from '../../domain/money.ts';

/** Returns cents as an amount, such as `KES 1,234.50`. */
export function kes(cents: number): string {
  const [whole = '', fraction] = formatAmount(cents).split('.');
  return `KES ${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}

/** An amount of cents, in a column of amounts. */
export function Money({ cents }: { cents: number }) {
  return <span class="number">{kes(cents)}</span>;
}
