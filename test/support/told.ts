import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { whyTwo } from '../../src/domain/support/decide-alone.ts';
import { type Decided, previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { DAY_MS, MINUTE_MS } from '../../src/time.ts';
import { runStatement } from './statements.ts';
import { parserOf, RESOLVING, type StoreWorld, succeeded } from './world.ts';

const ACTOR = 'amina@x.example';
/** STAFF_APPROVAL_LIMIT, above all amounts of these tests that are not about it. */
const LIMIT_CENTS = 10_000_000;

/** What gateways, files and people say in a store, at moments that the test chooses. */
export function toldIn(store: StoreWorld) {
  const begun = Date.now();
  const day = (days: number) => new Date(begun + days * DAY_MS).toISOString().slice(0, 10);
  /** A moment of the test, in minutes, up to 10 in the past: what the gateway said at 2 it said before 3. */
  const at = (minutes: number) => new Date(begun + (minutes - 10) * MINUTE_MS);
  const preview = (id: string, as: Resolution): Promise<Decided> => {
    const decision = { as, actor: ACTOR, reason: 'because', transId: null };
    return previewDecision(store.database, id, decision, RESOLVING);
  };
  return {
    at,
    day,
    preview,
    /** The gateway's news, heard at a moment. Null: now. */
    tell: (payment: AnyPayment, news: Verdict, heardAt: Date | null, cause = 'callback') =>
      store.transaction(async (trx) => {
        const locked = await lockPayment(trx, refOf(payment));
        return settle(trx, locked!, news, { cause, heardAt, parserOf });
      }),
    /** A success of which the gateway tells the receipt alone. */
    paid: (transId: string | null, more: object = {}) =>
      succeeded({
        ...{ transId, externalRef: null, account: null, amountCents: null, completedAt: at(1) },
        ...more,
      }),
    /** A statement of yesterday to tomorrow is compared. */
    read: (
      lines: StatementLine[],
      source: string = FROM_GATEWAY,
      covers: StatementLine['kind'][] = [],
    ) => {
      const period = { from: day(-1), to: day(1) };
      return runStatement(store.database, lines, period, { covers }, source);
    },
    /** Why one person alone may not decide so. Null: she may. */
    whyTwo: async (id: string, as: Resolution): Promise<string | null> =>
      whyTwo(store.database, await preview(id, as), { as, actor: ACTOR }, LIMIT_CENTS),
  };
}
