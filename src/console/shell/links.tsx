import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { kes } from '../../domain/money.ts';
import type { PaymentRef } from '../../domain/payments/payment-store.ts';
import { VEILED } from '../../domain/veil.ts';
import { pathTo } from '../routes.ts';

/** The merchants that a page links to, and their names as far as they are known. */
export interface LinkedMerchants {
  linked: Set<number>;
  names: ReadonlyMap<number, string>;
}

export const LinkedMerchantsContext = createContext<LinkedMerchants | null>(null);

/** A link to a merchant, by its name and number. */
export function MerchantLink({ merchant_id }: { merchant_id: number | null }) {
  const merchants = useContext(LinkedMerchantsContext);
  if (merchant_id === null) return '–';
  merchants?.linked.add(merchant_id);
  const name = merchants?.names.get(merchant_id);
  return (
    <a href={pathTo('merchant', { merchant_id })}>
      {name === undefined ? merchant_id : `${name} (${merchant_id})`}
    </a>
  );
}

/** A link to a payment, as its merchant names it, without the phone that a name may have. */
export function PaymentLink({
  payment,
  ref_no,
}: {
  payment: PaymentRef;
  ref_no?: string | null | undefined;
}) {
  const { kind, merchant_id, id } = payment;
  return (
    <a href={pathTo('payment', { kind, merchant_id, id })}>
      {kind} {ref_no ? VEILED.numbers(ref_no) : id}
    </a>
  );
}

/** An amount of cents, in a column of amounts. */
export function Money({ cents }: { cents: number }) {
  return <span class="number">{kes(cents)}</span>;
}

const NAIROBI = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Africa/Nairobi',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Returns a moment as people in Nairobi write it, such as `23 Nov 2026, 10:07:22`. */
export function nairobiTime(at: Date): string {
  return NAIROBI.format(at);
}

/** A time in Nairobi. Its tooltip shows UTC. */
export function Time({ at }: { at: Date }) {
  const iso = at.toISOString();
  return (
    <time datetime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {nairobiTime(at)}
    </time>
  );
}

const UNITS_S = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** Returns a span of time in its largest unit, rounded down, such as `3 min`. */
export function spanOf(seconds: number): string {
  const [unit, length] = UNITS_S.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / length)} ${unit}`;
}

/** A list of names with their values. Leaves out values that are null. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl>
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}
