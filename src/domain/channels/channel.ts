export const CHANNEL_TYPES = ['Mobile Money', 'Bank'] as const;

/** A way to move money. Its code is a carrier's network code or a bank's clearing code. */
export interface Channel {
  code: number;
  name: string;
  type: (typeof CHANNEL_TYPES)[number];
}

/** The driver that carries a channel's payments, and the amounts that it accepts. */
export interface ChannelRoute {
  gateway: string;
  /** Amounts must be multiples of this: 100 where a provider takes whole shillings only. */
  amountStepCents: number;
}

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
 * Channels of carriers by the digits after +254. The longest prefix wins. Null marks a carrier
 * without a mobile-money channel. This is only a guess, because numbers can change carriers.
 */
const CARRIER_CHANNELS: Readonly<Record<string, number | null>> = {
  '10': 63903,
  '11': 63902,
  '14': 63902,
  '70': 63902,
  '71': 63902,
  '72': 63902,
  '73': 63903,
  '74': 63902,
  '75': 63903,
  '77': 63907,
  '78': 63903,
  '79': 63902,
  '120': 63907,
  '744': null,
  '747': null,
  '757': 63902,
  '758': 63902,
  '759': 63902,
  '761': 63903,
  '762': 63903,
  '768': 63902,
  '769': 63902,
};

/** Guesses the mobile-money channel of a Kenyan phone; null when its carrier has none. */
export function channelOfPhone(phone: string): number | null {
  const national = phone.slice('+254'.length);
  const prefixes = [national.slice(0, 3), national.slice(0, 2)];
  const prefix = prefixes.find((digits) => digits in CARRIER_CHANNELS);
  return CARRIER_CHANNELS[prefix ?? ''] ?? null;
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
