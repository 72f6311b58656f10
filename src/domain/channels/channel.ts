export const CHANNEL_TYPES = ['Mobile Money', 'Bank'] as const;

/** A way to move money. Its code is a carrier's network code or a bank's clearing code. */
export interface Channel {
  code: number;
  name: string;
  type: (typeof CHANNEL_TYPES)[number];
}

/** The amounts that a gateway carries, in cents. */
export interface AmountRule {
  minCents: number;
  maxCents: number;
  /** Amounts are multiples of this: 100 where a provider takes whole shillings only. */
  stepCents: number;
}

/** The account with a gateway that carries payments of one kind, and the amounts that it takes. */
export interface KindRoute {
  gateway: string;
  amounts: AmountRule;
}

/** The ways of a channel's payments. A kind that is missing is not carried. */
export type ChannelRoute = Readonly<Partial<Record<'collection' | 'payout', KindRoute>>>;

const BANKS: readonly (readonly [code: number, name: string])[] = [
  [1, 'KCB'],
  [2, 'Standard Chartered'],
  [3, 'Absa'],
  [5, 'Bank of India'],
  [6, 'Bank of Baroda'],
  [7, 'NCBA'],
  [10, 'Prime'],
  [11, 'Co-operative'],
  [12, 'National'],
  [14, 'M-Oriental'],
  [16, 'Citibank'],
  [17, 'Habib AG Zurich'],
  [18, 'Middle East'],
  [19, 'Bank of Africa'],
  [23, 'Consolidated'],
  [25, 'Credit'],
  [31, 'Stanbic'],
  [35, 'ABC'],
  [43, 'Ecobank'],
  [49, 'Spire'],
  [50, 'Paramount'],
  [51, 'Kingdom'],
  [53, 'Guaranty Trust'],
  [54, 'Victoria Commercial'],
  [55, 'Guardian'],
  [57, 'I&M'],
  [61, 'HFC'],
  [63, 'DTB'],
  [65, 'Mayfair'],
  [66, 'Sidian'],
  [68, 'Equity'],
  [70, 'Family'],
  [72, 'Gulf African'],
  [74, 'First Community'],
  [76, 'UBA'],
  [78, 'KWFT'],
];

export const CHANNELS: readonly Channel[] = [
  { code: 63902, name: 'M-PESA', type: 'Mobile Money' },
  { code: 63903, name: 'Airtel Money', type: 'Mobile Money' },
  { code: 63907, name: 'T-Kash', type: 'Mobile Money' },
  ...BANKS.map(([code, name]) => ({ code, name, type: 'Bank' as const })),
];

export function channelByCode(code: number): Channel | undefined {
  return CHANNELS.find((channel) => channel.code === code);
}

/**
 * Channels of carriers, with their digits after +254. The longest prefix wins. Null marks a carrier
 * without a mobile-money channel. This is only a guess, because numbers can change carriers.
 */
const CARRIERS: readonly { channel: number | null; prefixes: readonly number[] }[] = [
  { channel: 63902, prefixes: [11, 14, 70, 71, 72, 74, 79, 757, 758, 759, 768, 769] },
  { channel: 63903, prefixes: [10, 73, 75, 78, 761, 762] },
  { channel: 63907, prefixes: [77, 120] },
  { channel: null, prefixes: [744, 747] },
];

/** Guesses the mobile-money channel of a Kenyan phone; null when its carrier has none. */
export function channelOfPhone(phone: string): number | null {
  const national = phone.slice('+254'.length);
  const carrierOf = (digits: string) =>
    CARRIERS.find(({ prefixes }) => prefixes.includes(Number(digits)));
  const carrier = carrierOf(national.slice(0, 3)) ?? carrierOf(national.slice(0, 2));
  return carrier?.channel ?? null;
}

/**
 * Reads the drivers of channels from text such as `63902=driver,63903=driver`.
 * @throws Error that says what is wrong.
 */
export function channelsFromText(text: string): ReadonlyMap<number, string> {
  const drivers = new Map<number, string>();
  for (const item of text.split(',').filter((part) => part.trim() !== '')) {
    const [, digits, driver] = /^\s*(\d+)=([a-z][a-z0-9-]*)\s*$/.exec(item) ?? [];
    const channel = channelByCode(Number(digits));
    if (!channel || !driver) {
      throw new Error('must be a list of channel=driver with a known channel code and driver name');
    }
    if (drivers.has(channel.code)) throw new Error(`names the channel ${channel.code} twice`);
    drivers.set(channel.code, driver);
  }
  return drivers;
}

/** A payment's account with a gateway is not configured any more, so this process cannot call it. */
export class GatewayGoneError extends Error {
  constructor(name: string) {
    super(`The gateway ${name} is not configured any more`);
    this.name = 'GatewayGoneError';
  }
}
