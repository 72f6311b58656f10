import fc from 'fast-check';
import { RECEIPTS } from './gateway-world.ts';
import type { Happening, Nature } from './history.ts';
import { CALLS } from './history-gateway.ts';
import { FORMS } from './history-statements.ts';
import { CRASHES, FREEZES } from './history-workers.ts';

/** A history, and how support decides about what it leaves open. */
export interface RandomHistory {
  nature: Nature;
  happenings: Happening[];
  /** Whose references the gateway's statement has. */
  names: 'ours' | 'its own';
  turn: number;
}

const who = fc.nat({ max: 9 });
const call = fc.constantFrom(...CALLS);
const rarely = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);
const names = fc.constantFrom('ours' as const, 'its own' as const);
const sometimes = fc.nat({ max: 3 }).map((number) => number === 0);
const often = rarely.map((isRare) => !isRare);

function weighted<What extends Happening['what']>(
  weight: number,
  what: What,
  more: object,
): { weight: number; arbitrary: fc.Arbitrary<Happening> } {
  const arbitrary = fc.record({ what: fc.constant(what), who, ...more });
  return { weight, arbitrary: arbitrary as unknown as fc.Arbitrary<Happening> };
}

const initiate = weighted(6, 'initiate', {
  kind: fc.constantFrom('collection', 'collection', 'payout', 'reversal'),
});

const happening: fc.Arbitrary<Happening> = fc.oneof(
  initiate,
  weighted(16, 'job', { stale: rarely, call, crash: fc.constantFrom(...CRASHES, 'nowhere') }),
  weighted(4, 'two jobs', { call }),
  weighted(3, 'freeze', { at: fc.constantFrom(...FREEZES) }),
  weighted(3, 'thaw', { call }),
  weighted(8, 'success', { again: rarely, amount: sometimes, parts: sometimes }),
  weighted(4, 'failure', {}),
  weighted(2, 'shared receipt', {}),
  weighted(10, 'callback', { isReadable: often }),
  weighted(6, 'callback job', {}),
  weighted(2, 'deadline', {}),
  weighted(2, 'transfer', {}),
  weighted(4, 'decision', { word: fc.nat({ max: 5 }) }),
  weighted(3, 'hand completion', { receipt: fc.constantFrom(...RECEIPTS) }),
  weighted(2, 'doubt', {}),
  weighted(2, 'statement', { form: fc.constantFrom(...FORMS), names, isEmpty: rarely }),
);

/** Draws histories that are told through a driver. */
export const randomHistory = (driver: Nature['driver']): fc.Arbitrary<RandomHistory> =>
  fc.record({
    nature: fc.record({
      driver: fc.constant(driver),
      resubmit: fc.constantFrom('safe' as const, 'never' as const),
      sharesReferences: rarely,
    }),
    happenings: fc
      .tuple(
        fc.array(initiate.arbitrary, { minLength: 1, maxLength: 3 }),
        fc.array(happening, { minLength: 5, maxLength: 40, size: 'medium' }),
      )
      .map((parts) => parts.flat()),
    names,
    turn: fc.nat({ max: 5 }),
  });
