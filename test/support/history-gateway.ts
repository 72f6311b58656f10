import type { Database } from '../../src/connections/database.ts';
import type {
  CallbackAddress,
  GatewayPaymentKind,
  ParserOf,
  QueryResult,
  SubmitResult,
} from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { storeCallback } from '../../src/domain/settlement/callback-store.ts';
import type { Question } from '../../src/domain/submission/polling.ts';
import type { GatewayWorld } from './gateway-world.ts';
import { parserOf } from './payments.ts';

/** What becomes of one call to the gateway. */
export const CALLS = ['answered', 'declined', 'not taken', 'answer lost', 'never arrived'] as const;
export type Call = (typeof CALLS)[number];

/** What a gateway posts to an address of a payment. */
export interface Told {
  body: string;
  address?: CallbackAddress;
  askedAt?: Date;
}

/** A driver in a history, and the gateway behind it. */
export interface HistoryGateway {
  parserOf: ParserOf;
  resubmit(kind: GatewayPaymentKind): 'safe' | 'never';
  /** Tells whether all its news of a success state the amount. */
  statesAmount(kind: GatewayPaymentKind): boolean;
  submit(payment: AnyPayment, call: Call): Promise<SubmitResult>;
  /** Asks. What answers as a callback comes with the result. */
  query(question: Question, call: Call): Promise<{ result: QueryResult; answers: Told[] }>;
  /** What the gateway says now of a payment by itself. */
  callbacksOf(payment: AnyPayment): Told[];
}

export const UNKNOWN = { outcome: 'unknown', reason: 'no answer' } as const;

/** The account's name in all histories. */
const NAME = 'simulator';

/** Creates a driver without a protocol: its callbacks are verdicts as JSON. */
export function createPlayedGateway(
  world: GatewayWorld,
  { resubmit, sharesReferences }: { resubmit: 'safe' | 'never'; sharesReferences: boolean },
): HistoryGateway {
  const takeBy = (payment: AnyPayment, call: Call) => {
    if (call === 'declined') return world.decline(payment);
    const arrives = call === 'answered' || call === 'answer lost';
    return arrives ? world.take(payment, sharesReferences) : null;
  };
  return {
    parserOf,
    resubmit: () => resubmit,
    statesAmount: () => true,
    submit: async (payment, call) => {
      const taken = takeBy(payment, call);
      if (taken && call !== 'answer lost') return taken;
      return call === 'not taken' ? { outcome: 'notTaken', reason: call } : UNKNOWN;
    },
    query: async ({ payment }, call) => {
      const isAnswered = call === 'answered';
      const result = isAnswered
        ? world.query(payment)
        : ({ outcome: 'noAnswer', reason: call } as const);
      return { result, answers: [] };
    },
    callbacksOf: (payment) => {
      const verdict = world.verdictOf(payment);
      return verdict ? [{ body: JSON.stringify(verdict) }] : [];
    },
  };
}

/** Stores what a gateway posts, as the web process does: up to a daily limit of each address. */
export async function storeTold(
  database: Database,
  payment: AnyPayment,
  told: readonly Told[],
): Promise<void> {
  for (const { body, ...place } of told) {
    await storeCallback(database, NAME, { ...refOf(payment), ...place }, body);
  }
}
