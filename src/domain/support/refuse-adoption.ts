import { validate as isUuid } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { bookedByHandFor, HAS_OWNER, isOurs } from '../discrepancies/booked-by-hand.ts';
import { isRowBack } from '../discrepancies/known-rows.ts';
import { IS_TOLD, IS_UNEXPLAINED, IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { formatAmount } from '../money.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { candidatesOf, paymentsListedAs } from '../reconciliation/candidates.ts';
import { isWithinDay } from '../reconciliation/days-alone.ts';
import { payoutInParts } from '../reconciliation/payouts-in-parts.ts';
import { countRivals } from '../reconciliation/rivals.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { HAS_GONE_BACK } from '../settlement/gone-back.ts';
import { claimantOf, ownerOfReceipt } from '../settlement/receipts.ts';
import { returnedLike } from '../settlement/returned-like.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { findEntry } from '../wallets/operator-entries.ts';
import { adoptedLike, givenBackAs, isListedTwice, toldLike } from './same-money.ts';

/* Which money that no payment here explains can be adopted. */

/** Money that no payment here explains. What is not told is null. */
export interface Found {
  discrepancy_id: string;
  merchant_id: number | null;
  gateway: string;
  moved: GatewayPaymentKind | null;
  receipt: string;
  reference: string | null;
  amount_cents: number | null;
  account: string | null;
  completed_at: Date | null;
  /** Several payments may explain it, or several findings differ. */
  is_doubtful: boolean;
  /** The gateway itself has told it: not only a file. */
  is_told: boolean;
  /** It may be the money of the payment that its question names. */
  has_owner: boolean;
  /** A merchant that was created after the backup is not here after a restore. */
  is_merchant_here: boolean;
}

/** SQL: the reference that one of two forms of a statement may lack beside the receipt. */
const REFERENCE = `coalesce(details->>'reference', (
  SELECT max(e->'details'->>'reference') FROM jsonb_array_elements(evidence) e))`;

const FIND = `SELECT id AS discrepancy_id, merchant_id, gateway, trans_id AS receipt, amount_cents,
    coalesce(payment_kind, details->>'kind') AS moved, ${REFERENCE} AS reference,
    details->>'account' AS account, CAST(details->>'completed_at' AS timestamptz) AS completed_at,
    -- The candidates of a line that names none are looked for anew.
    details->>'candidates' IS NOT NULL AND details->>'reference' IS NOT NULL
      OR NOT evidence_complete
      OR (SELECT count(DISTINCT jsonb_build_array(
          e->'amount_cents', (e->'details') - 'candidates' - 'reference')) <> 1
          OR count(DISTINCT e->'details'->>'reference') > 1 FROM jsonb_array_elements(evidence) e
        WHERE NOT CAST(e->'decided' AS boolean)) AS is_doubtful,
    ${HAS_OWNER} AS has_owner, ${IS_TOLD} AS is_told, EXISTS (SELECT FROM merchants m WHERE m.id = d.merchant_id) AS is_merchant_here
  FROM discrepancies d
  WHERE ${IS_UNKNOWN} AND resolved_at IS NULL
    AND trans_id = ANY (:receipts)
  ORDER BY id`;

/** Finds what was told under receipts, with what makes it doubtful. */
export function findAdoptable(
  executor: Database | Transaction,
  receipts: readonly string[],
  lock: 'FOR NO KEY UPDATE' | '',
): Promise<Found[]> {
  return rows<Found>(executor, `${FIND} ${lock}`, { receipts });
}

/**
 * Says why a receipt cannot be adopted; null if it can.
 * @param adopted are the receipts of the same plan
 */
export async function whyNotAdopted(
  executor: Database | Transaction,
  merchant_id: number,
  found: Found | undefined,
  hasMore: boolean,
  adopted: readonly string[],
): Promise<string | null> {
  if (!found) return 'no open unknown movement has it';
  const { moved: kind, receipt, gateway, reference } = found;
  if (hasMore || found.is_doubtful) return 'several movements or payments may be meant';
  if (found.has_owner) return 'its question names a payment that may have it: dismiss it if so';
  const isOfOther = found.merchant_id !== null && found.merchant_id !== merchant_id;
  if (isOfOther && found.is_merchant_here) return `it is of merchant ${found.merchant_id}`;
  if (kind !== 'collection' && kind !== 'payout') return 'it is neither collection nor payout';
  if (found.amount_cents === null) return 'its amount is not known';
  if ((await isToldAsWell(executor, found)) || (await isListedTwice(executor, found))) {
    return 'it may be told once with its receipt and once without: if it is the same money, dismiss one of the two';
  }
  if (await isCalledFailed(executor, found)) {
    return 'the gateway has called its payment failed as well: dismiss that question first';
  }
  // Two receipts of the gateway's own are two movements.
  const isSure = found.is_told && receipt !== reference;
  const told = isSure
    ? null
    : await toldLike(executor, found, { hasReceipt: receipt !== reference });
  if (told !== null) {
    return `${found.is_told ? 'it has no receipt' : 'only a file has told it'}, and it may be ${told}: the same amount, phone and minute, or day. Dismiss this one if it is the same money`;
  }
  const twin = await adoptedLike(executor, found);
  if (twin !== null) {
    return `it may be the adopted ${twin}: the same amount, phone and minute, and only a file has told one of the two`;
  }
  if (
    kind === 'collection' &&
    (await isRowBack(executor, gateway, {
      ...found,
      trans_id: receipt,
      amount_cents: found.amount_cents,
    }))
  ) {
    return 'a statement lists it as money that comes back: answer that question, and dismiss this one';
  }
  const back = await givenBackAs(executor, found);
  if (back !== null) {
    return `the row ${back} may have given it back: dismiss both then, otherwise dismiss that row first`;
  }
  const line = { kind, reference, trans_id: receipt };
  const [
    payment = (await paymentNamed(executor, found)) ??
      (await paymentLike(executor, found, adopted)),
  ] = await candidatesOf(executor, gateway, line);
  if (payment) return `it may be that of ${nameOf(payment)}: ask the gateway about it`;
  const { account, amount_cents, completed_at } = found;
  const { discrepancy_id } = found;
  const money = { gateway, account, amount_cents, discrepancy_id };
  const whole =
    kind === 'payout' &&
    completed_at &&
    (await payoutInParts(executor, { ...money, completed_at }));
  if (whole) return `it may be a part of ${nameOf(whole)}: join the parts there`;
  const [late] =
    kind === 'collection' && completed_at !== null
      ? await returnedLike(executor, { gateway, account, amount_cents, completed_at })
      : [];
  if (late)
    return `it may be the money of ${nameOf(late)} that waits, or goes back to the customer`;
  const claimant = await claimantOf(executor, { kind, gateway, receipt });
  if (claimant) return `a question names it for ${nameOf(claimant)}: resolve that first`;
  const owner = await ownerOfReceipt(executor, { kind, gateway }, receipt);
  if (owner) return `it belongs to ${nameOf(owner)}`;
  const entry = await findEntry(executor, { merchant_id, reference: receipt });
  if (entry) return `${formatAmount(entry.amount_cents)} are booked by hand under it`;
  const by_hand = await bookedByHandFor(executor, [receipt]);
  return by_hand === null ? null : `it is booked by hand for merchant ${by_hand}`;
}

/** Tells whether another finding may be about the same money: one of the two has no receipt. Customers type one word for any. */
function isToldAsWell(executor: Database | Transaction, found: Found): Promise<boolean> {
  return hasRow(
    executor,
    `SELECT 1 FROM discrepancies
     WHERE ${IS_UNEXPLAINED} AND gateway = :gateway AND id <> :discrepancy_id
       AND (resolved_at IS NULL OR resolution = 'adopted')
       AND :reference IN (trans_id, CAST(:receipt AS text))
       AND (${isOurs('CAST(:reference AS text)')} OR coalesce(amount_cents = :amount_cents, true)
         AND coalesce(${sameAccount("(details->>'account')", 'CAST(:account AS text)')}, true)
         AND ${isWithinDay("CAST(details->>'completed_at' AS timestamptz)", 'CAST(:completed_at AS timestamptz)')})
       AND (coalesce(payment_kind, details->>'kind') = 'collection') = (:moved = 'collection')`,
    { ...found, trans_id: found.receipt },
  );
}

/** Tells whether the gateway has called the payment of this money failed, and nobody has decided about that. */
function isCalledFailed(
  executor: Database | Transaction,
  { discrepancy_id, gateway, reference }: Found,
): Promise<boolean> {
  return hasRow(
    executor,
    `SELECT 1 FROM discrepancies f JOIN discrepancies d ON d.id = :discrepancy_id
     WHERE f.kind = 'unknown_payment' AND f.resolved_at IS NULL AND f.gateway = :gateway
       AND f.details->>'outcome' = 'failed'
       AND (f.merchant_id = d.merchant_id AND f.payment_id = d.payment_id OR f.details->>'reference' = :reference)`,
    { discrepancy_id, gateway, reference },
  );
}

/**
 * Finds a payment of any kind at any gateway that has the reference, or the receipt with the amount: a
 * file may have been brought for the wrong account, or as the wrong kind.
 */
async function paymentNamed(
  executor: Database | Transaction,
  { receipt, reference, amount_cents }: Found,
): Promise<PaymentRef | undefined> {
  const uuid = reference !== null && isUuid(reference) ? reference : null;
  const lookups = PAYMENT_KINDS.map(
    (kind) => `SELECT '${kind}' AS kind, merchant_id, id FROM ${STEP_TABLES[kind].table}
      WHERE reference = CAST(:uuid AS uuid) OR external_ref = :reference`,
  );
  return firstRow<PaymentRef>(
    executor,
    `${lookups.join(' UNION ALL ')}
     UNION ALL SELECT payment_kind, merchant_id, payment_id FROM movements m
       WHERE trans_id = :receipt AND amount_cents = :amount_cents
         AND (booked <> 'undone' OR ${HAS_GONE_BACK})
     LIMIT 1`,
    { receipt, reference, amount_cents, uuid },
  );
}

/**
 * Finds a payment at any gateway that has no sure receipt yet, and that money which names none may be of: its account,
 * its amount and its time fit. Completed payments, and those whose money has gone back, may have other money that fits,
 * unless that is adopted too, if there is as much of it as there are such payments.
 */
async function paymentLike(
  executor: Database | Transaction,
  { moved, gateway, receipt, reference, account, amount_cents, completed_at, is_told }: Found,
  adopted: readonly string[],
): Promise<PaymentRef | undefined> {
  if (moved !== 'collection' && moved !== 'payout') return;
  // One of ours names a payment that is not here. Any other may be what a customer has typed.
  if ((reference !== null && isUuid(reference)) || completed_at === null) return;
  const money = { kind: moved, trans_id: receipt, amount_cents: amount_cents! };
  // A file may have been brought for the wrong account. Without a phone that would be anybody's.
  const anywhere = account === null ? gateway : null;
  const listed = { ...money, account, completed_at };
  const alike = await paymentsListedAs(executor, anywhere, listed, { isTold: is_told });
  // The adoption takes a payout from the wallet again. Late money of a collection asks about adopted money.
  const waiting = alike.filter((each) => !each.is_over && !each.has_listed_receipt);
  const open = waiting.find(({ is_completed, had_money }) => !is_completed && !had_money);
  if (open) return open;
  const others = { gateway, import_id: null, decidingAbout: adopted };
  for (const payment of waiting) {
    // Each of them has some of the money.
    if ((await countRivals(executor, others, money, payment)) < waiting.length) return payment;
  }
}
