/** The shape of a shop's day. We chose the shares. Nobody has measured them. */

/** The weight of each hour, from midnight on. */
const HOURS = [
  ...[1, 1, 1, 1, 2, 6, 20, 40, 55, 60, 65, 70],
  ...[80, 70, 60, 60, 70, 85, 90, 70, 45, 25, 12, 5],
];
const HOURS_COUNT = HOURS.length;

export type Kind = 'collection' | 'payout' | 'reversal';
type Shares = readonly (readonly [what: string, perMille: number])[];

const KINDS: Shares = [
  ['collection', 700],
  ['payout', 260],
  ['reversal', 40],
];

/** Last digits of phones, by which the simulator decides how a payment ends. */
const ENDINGS: Readonly<Record<Kind, Shares>> = {
  // Paid; unanswered; cancelled; too little money; paid late; failed and paid after all.
  collection: [
    ...[['678', 733] as const, ['037', 120] as const, ['032', 80] as const],
    ...[['001', 55] as const, ['108', 10] as const, ['107', 2] as const],
  ],
  // Paid; not registered; no such recipient; paid after a queue timeout; failed and paid after all.
  payout: [
    ...[['678', 969] as const, ['001', 15] as const, ['037', 10] as const],
    ...[['123', 5] as const, ['107', 1] as const],
  ],
  // It goes by the phone that paid.
  reversal: [['678', 1_000]],
};

/** Returns when each of `count` payments comes, in ms from the beginning of a day of that length. */
export function arrivalsOf(count: number, dayMs: number): number[] {
  const total = HOURS.reduce((sum, weight) => sum + weight, 0);
  const arrivals: number[] = [];
  let before = 0;
  for (const [hour, weight] of HOURS.entries()) {
    const until = before + weight;
    const number = Math.round((count * until) / total) - Math.round((count * before) / total);
    for (let index = 0; index < number; index += 1) {
      arrivals.push(((hour + index / number) * dayMs) / HOURS_COUNT);
    }
    before = until;
  }
  return arrivals;
}

/** Returns the kind and the phone's ending of a payment, always the same for seed and number. */
export function natureOf(seed: number, index: number): { kind: Kind; ending: string } {
  const kind = shareAt(KINDS, seed + index, 37) as Kind;
  return { kind, ending: shareAt(ENDINGS[kind], seed + index, 617) };
}

/** Returns the number of the first payment, from `count` on, that a customer surely makes. */
export function paidAfter(seed: number, count: number): number {
  const [ending] = ENDINGS.collection[0]!;
  for (let index = count; ; index += 1) {
    const nature = natureOf(seed, index);
    if (nature.kind === 'collection' && nature.ending === ending) return index;
  }
}

const PER_MILLE = 1_000;

/** Spreads the shares evenly over the numbers. `step` has no common factor with 1,000. */
function shareAt(shares: Shares, index: number, step: number): string {
  let place = (index * step + Math.floor(index / PER_MILLE) * 7) % PER_MILLE;
  for (const [what, perMille] of shares) {
    if (place < perMille) return what;
    place -= perMille;
  }
  throw new Error('The shares do not make a whole');
}
