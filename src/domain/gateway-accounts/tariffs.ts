import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import type { LargestCharge } from './balances.ts';

/** The gateway's charges for one kind of payments. */
export interface Tariff {
  gateway: string;
  kind: GatewayPaymentKind;
  /** Cents, the smallest amounts first. The last charge also holds for larger amounts. */
  bands: { up_to_cents: number; charge_cents: number }[];
}

const ENTRY = /^([\w-]{1,32}) (\w+) (\S+)$/;
const BAND = /^(\d{1,9})(?:\.(\d\d))?=(\d{1,6})(?:\.(\d\d))?$/;

/**
 * Reads tariffs such as `NAME payout 1000=5.00,1500=7.50; NAME reversal 150000=0`.
 * @throws Error whose message follows the name of the setting
 */
export function tariffsFromText(text: string): Tariff[] {
  return text.split(';').map((entry) => {
    const [, gateway, kind, list] = ENTRY.exec(entry.trim()) ?? [];
    const known = PAYMENT_KINDS.find((each) => each === kind);
    const bands = list?.split(',').map((band) => {
      const [, upTo, upToCents = '00', charge, chargeCents = '00'] = BAND.exec(band) ?? [];
      return {
        up_to_cents: Number(`${upTo}${upToCents}`),
        charge_cents: Number(`${charge}${chargeCents}`),
      };
    });
    const isRead = bands?.every(
      ({ up_to_cents, charge_cents }, index) =>
        Number.isSafeInteger(charge_cents) && up_to_cents > (bands[index - 1]?.up_to_cents ?? 0),
    );
    if (gateway && known && bands && isRead) return { gateway, kind: known, bands };
    throw new Error(
      `must be a list such as NAME payout 1000=5.00,1500=7.50; NAME reversal 150000=0: up to an amount, the charge`,
    );
  });
}

/** Returns the largest charge of each kind of payment at a gateway. */
export function largestCharges(tariffs: readonly Tariff[], gateway: string): LargestCharge[] {
  return tariffs
    .filter((tariff) => tariff.gateway === gateway)
    .map(({ kind, bands }) => ({
      kind,
      cents: Math.max(...bands.map(({ charge_cents }) => charge_cents)),
    }));
}
