import { validate as isUuid } from 'uuid';
import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { HOUR_MS, MINUTE_MS } from '../../time.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS, PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { HAS_GONE_BACK, IS_BACK } from '../settlement/gone-back.ts';
import { directionOf, isSameDirection } from '../settlement/receipts.ts';
import { isMasked, sameAccount } from '../settlement/same-account.ts';
import { ARE_UNSURE, BEST_SOURCE, HAS_UNSURE_RECEIPT } from '../settlement/sources.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import { isDayAlone, latestMomentOf } from './days-alone.ts';
import { PAYMENTS_OF_LINES, type StoredLine } from './statement.ts';

/** Bounds what a person has to look at. */
const MAX_CANDIDATES = 10;

/**
 * Finds the payments that a line may be about: by our reference, by the gateway's reference, and
 * by a receipt that is booked, or whose money has gone back. It tries all three, because they may disagree.
 */
export async function candidatesOf(
  trx: Database | Transaction,
  gateway: string,
  { kind, reference, trans_id }: Pick<StoredLine, 'kind' | 'reference' | 'trans_id'>,
): Promise<PaymentRef[]> {
  const lookups = PAYMENTS_OF_LINES[kind].flatMap((each) => [
    paymentsOf(each, 'reference = CAST(:uuid AS uuid)'),
    paymentsOf(each, 'external_ref = :reference'),
  ]);
  return rows<PaymentRef>(
    trx,
    `${lookups.join(' UNION ')}
     UNION SELECT payment_kind, merchant_id, payment_id FROM movements m
       WHERE trans_id = :trans_id AND gateway = :gateway AND (booked <> 'undone' OR ${HAS_GONE_BACK})
         AND ${isSameDirection('payment_kind', ':kind')}
     -- People have said that money of the payment is the same as that of another receipt.
     UNION SELECT payment_kind, merchant_id, payment_id FROM receipts
       WHERE gateway = :gateway AND direction = :direction AND receipt = :trans_id
         AND payment_kind <> 'adoption'
     ORDER BY merchant_id, id LIMIT :limit`,
    {
      gateway,
      kind,
      direction: directionOf(kind),
      reference,
      trans_id,
      limit: MAX_CANDIDATES,
      uuid: reference !== null && isUuid(reference) ? reference : null,
    },
  );
}

function paymentsOf(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}' AS kind, merchant_id, id FROM ${STEP_TABLES[kind].table}
    WHERE gateway = :gateway AND ${condition}`;
}

/** The customer pays within this time of the request. Clocks may differ by as much. */
export const PAID_WITHIN = { before_minutes: 30, after_minutes: 5 };

/** Says when the money of a payment may have moved: see `PAID_WITHIN`. */
export function whenMoved(payment: AnyPayment): { since: Date; until: Date } {
  const { kind, created_at, deadline_at, payment_completed_at } = payment;
  const end = isOpen(payment) ? Date.now() : (payment_completed_at?.getTime() ?? 0);
  // A customer pays soon or never. A payout may take longer than the deadline, at which only our waiting ends.
  const latest =
    kind === 'collection' ? created_at.getTime() : Math.max(deadline_at.getTime(), end);
  return {
    since: new Date(created_at.getTime() - PAID_WITHIN.after_minutes * MINUTE_MS),
    until: new Date(latest + PAID_WITHIN.before_minutes * MINUTE_MS),
  };
}

/** No payment moves so long after it was asked for. */
export const LONGEST = '14 days';

/** Money that names no payment, and the kind of payments that it may be of. */
type LikeMoney = Pick<StoredLine, 'account' | 'amount_cents' | 'trans_id' | 'completed_at'> & {
  kind: GatewayPaymentKind;
};

/** A payment that a line may be about, though neither names the other. */
type Alike = PaymentRef & {
  is_doubtful: boolean;
  is_completed: boolean;
  /** The gateway itself has failed it, and nothing is asked about it. */
  is_unpaid: boolean;
  /** It has failed, without an open question and without money, and a payout is back in its wallet. */
  is_over: boolean;
  /** It has failed likewise, and its money without a sure receipt has gone back. */
  had_money: boolean;
  has_receipt: boolean;
  /** The gateway's own statement lists its receipt, and does not say whose it is; or one statement lists both receipts. */
  has_listed_receipt: boolean;
};

/** SQL: the payment `p` has a movement `m`. */
const OWN_MONEY = `SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked <> 'undone'`;

/** SQL: it has one with a receipt. */
const HAS_MOVED = `${OWN_MONEY} AND m.trans_id IS NOT NULL`;

/** SQL: somebody is asked whether the receipt belongs to other money than the money of the payment `p`. */
const IS_DIFFERENT = `EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
    AND d.payment_kind = :kind AND d.payment_id = p.id AND d.resolved_at IS NULL
    AND d.kind IN ('other_account', 'other_amount'))`;

/** SQL: a compared statement of these days has a line of this account for the receipt of the movement `m`, and one for the receipt that is told. */
const isListedTogether = (account: string) => `EXISTS (SELECT FROM statement_imports i
    JOIN statement_lines own ON own.import_id = i.id AND own.trans_id = m.trans_id
    JOIN statement_lines l ON l.import_id = i.id AND l.trans_id = :trans_id
    WHERE i.gateway = m.gateway AND i.started_at IS NOT NULL
      AND CAST(CAST(:completed_at AS timestamptz) AS date) BETWEEN i.period_from - 1 AND i.period_to + 1
      AND own.amount_cents = m.amount_cents AND ${sameAccount('own.account', account)} AND NOT own.undecided AND NOT l.undecided
      AND ${isSameDirection('own.kind', ':kind')})`;

/**
 * Finds the payments that a line without a reference may be about: of the same account and amount,
 * not long before, and without a sure receipt so far. A line without an account may be of any. A failed one is among
 * them, and is marked unless late money of it waits for its receipt: its customer
 * may have paid by hand afterwards, for something else, or somebody may have undone it wrongly. A payment is marked
 * too if another amount of it has moved, if a question about it names another receipt, or if its receipt may belong
 * to somebody else. A gateway that keeps no reference of ours tells no more when both its acknowledgement and its
 * callback were lost. If more fit than anybody can look at, the ones that have failed and are over are left out first.
 * @param gateway is null for all gateways: a file may have been brought for the wrong account
 */
export async function paymentsLike(
  trx: Database | Transaction,
  gateway: string | null,
  { kind, account, amount_cents, trans_id, completed_at }: LikeMoney,
): Promise<Alike[]> {
  const column = `p.${ACCOUNT_COLUMNS[kind]}`;
  const isOfAccount =
    account !== null && !isMasked(account)
      ? `${column} = :account`
      : `coalesce(${sameAccount(column, 'CAST(:account AS text)')}, true)`;
  return rows<Alike>(
    trx,
    `SELECT * FROM (SELECT '${kind}' AS kind, p.merchant_id, p.id,
       p.status = 'failed' AND NOT EXISTS (${OWN_MONEY} AND m.trans_id IS NULL
           AND m.booked IN ('suspense', 'returning') AND m.told_by NOT IN ${ARE_UNSURE})
       OR EXISTS (${OWN_MONEY} AND m.amount_cents <> p.amount_cents)
       OR EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
         AND d.payment_kind = :kind AND d.payment_id = p.id AND d.resolved_at IS NULL
         AND d.trans_id <> :trans_id) AS is_doubtful,
       p.status = 'completed' AS is_completed, ${isEnded(kind)} AND NOT ${HAD_MONEY} AS is_over,
       ${isEnded(kind)} AND ${HAD_MONEY} AS had_money,
       ${isEnded(kind)} AND NOT ${HAD_MONEY} AND EXISTS (SELECT FROM payment_history h WHERE h.merchant_id = p.merchant_id
         AND h.payment_kind = :kind AND h.payment_id = p.id AND h.to_status = 'failed'
         AND h.cause IN ('callback', 'poll', 'submission'))
       AND NOT EXISTS (${OWN_MONEY}) AS is_unpaid,
       EXISTS (${HAS_MOVED}) AS has_receipt,
       EXISTS (${HAS_MOVED} AND (${BEST_SOURCE} LIKE 'likeness%' OR m.receipt_told_by LIKE 'likeness%'
         OR ${isListedTogether(column)}) AND NOT ${IS_DIFFERENT}) AS has_listed_receipt
     FROM merchants JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = merchants.id
       AND ${isOfAccount}
       AND ${latestOf(kind)} > CAST(:completed_at AS timestamptz) - :before_minutes * interval '1 minute'
       AND (p.created_at < CAST(:latest AS timestamptz) + :after_minutes * interval '1 minute'
         OR ${mayHaveComeAgain('CAST(:completed_at AS timestamptz)', 'p.created_at')})
       AND p.created_at > CAST(:completed_at AS timestamptz) - interval '${LONGEST}'
     WHERE p.gateway = coalesce(:gateway, p.gateway) AND p.amount_cents = :amount_cents
       AND NOT EXISTS (${HAS_MOVED} AND NOT ${HAS_UNSURE_RECEIPT})
       -- Somebody has decided that this receipt is not the payment's.
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked = 'undone'
         AND upper(m.trans_id) = upper(:trans_id) AND NOT ${IS_BACK})
       AND EXISTS (SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id
         AND a.payment_kind = :kind AND a.payment_id = p.id)
     ORDER BY is_over, is_completed, p.created_at DESC LIMIT :limit) newest ORDER BY merchant_id, id`,
    {
      ...PAID_WITHIN,
      gateway,
      kind,
      account,
      amount_cents,
      trans_id,
      completed_at,
      latest: latestMomentOf({ completed_at }),
      limit: MAX_CANDIDATES,
    },
  );
}

/** A person may read a file by another clock: the clock of Kenya for UTC, or UTC for Kenya's. */
const CLOCKS_APART_MS = [0, -3 * HOUR_MS, 3 * HOUR_MS];

/**
 * Finds the payments that listed money may be of, likewise. Who brings a file may call money that goes out by another kind.
 * What only a file has told may also be by another clock, or of the other direction.
 */
export async function paymentsListedAs(
  trx: Database | Transaction,
  gateway: string | null,
  money: LikeMoney & { kind: 'collection' | 'payout' | 'reversal' },
  { isTold }: { isTold: boolean },
): Promise<Alike[]> {
  const isOtherWay = (kind: GatewayPaymentKind) =>
    isTold && directionOf(kind) !== directionOf(money.kind);
  const isByClock = !isTold && !isDayAlone(money.completed_at);
  const found = new Map<string, Alike>();
  for (const kind of PAYMENT_KINDS.filter((each) => !isOtherWay(each))) {
    for (const ms of isByClock ? CLOCKS_APART_MS : [0]) {
      const completed_at = new Date(money.completed_at.getTime() + ms);
      for (const each of await paymentsLike(trx, gateway, { ...money, kind, completed_at })) {
        found.set(`${kind} ${each.id}`, each);
      }
    }
  }
  return [...found.values()];
}

/**
 * SQL: the payment `p` has failed, nobody is asked about it any more, and a payout has its refund. Money that comes
 * later is a question.
 */
function isEnded(kind: string): string {
  return `(p.status = 'failed' AND p.next_step IS NULL
    ${kind === 'payout' ? 'AND p.refund_posted_at IS NOT NULL' : ''}
    AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
      AND d.payment_kind = :kind AND d.payment_id = p.id AND d.resolved_at IS NULL))`;
}

/** SQL: the payment `p` had money without a sure receipt, which has gone back: a line may list that. */
const HAD_MONEY = `EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
    AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked = 'undone' AND ${IS_BACK}
    AND (m.trans_id IS NULL OR ${HAS_UNSURE_RECEIPT}))`;

/**
 * SQL: from when on the money of a payment `p` is late. A customer pays soon or never. A payout may take until it ends:
 * at its deadline, only our waiting ends.
 */
export function latestOf(kind: GatewayPaymentKind): string {
  if (kind === 'collection') return 'p.created_at';
  return `CASE WHEN p.status IN ('pending', 'processing') THEN now() ELSE greatest(p.deadline_at, (
    SELECT max(m.learned_at) FROM movements m WHERE m.merchant_id = p.merchant_id
      AND m.payment_kind = '${kind}' AND m.payment_id = p.id)) END`;
}
