import { isDeepStrictEqual } from 'node:util';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { bookedByHandFor } from '../discrepancies/booked-by-hand.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import { IS_UNEXPLAINED } from '../discrepancies/unknown-movement.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { lockMerchant } from '../merchants/merchant.ts';
import { commissionOn, formatAmount, kes, type Rate } from '../money.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { candidatesOf, paymentsLike } from '../reconciliation/candidates.ts';
import { hasRival } from '../reconciliation/rivals.ts';
import { type Adoption, entryOf } from '../settlement/adoptions.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { claimantOf, directionOf, ownerOfReceipt } from '../settlement/receipts.ts';
import { returnedLike } from '../settlement/returned-like.ts';
import { receiptOf } from '../text.ts';
import { walletBalances } from '../wallets/list-transactions.ts';
import { bookOperatorEntry, findEntry } from '../wallets/operator-entries.ts';
import { rateOfMerchant } from './complete-from-suspense.ts';
import { markResolved } from './discrepancy-cases.ts';

/** The receipts that one adoption may have. */
export const MAX_ADOPTED = 200;

/** The rates of merchants that have none of their own. */
export interface AdoptionRates {
  commissionDefaults: Rate;
  payoutFeeDefaults: Rate;
}

/** Money that can be adopted, under the discrepancy that tells of it. */
export interface AdoptableLine extends Omit<Adoption, 'id' | 'merchant_id'> {}

/** The money that would be adopted, and why the other receipts would not be. */
export interface AdoptionPlan {
  merchant_id: number;
  lines: AdoptableLine[];
  refused: { receipt: string; why: string }[];
}

/**
 * Says which receipts can be adopted for a merchant, with what each would cost it.
 * @param lock keeps their discrepancies as they are until the end of the transaction
 * @throws OperatorRefusal when none can, or the payout wallet holds too little
 */
export async function planAdoption(
  executor: Database | Transaction,
  { merchant_id, receipts }: { merchant_id: number; receipts: readonly string[] },
  defaults: AdoptionRates,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<AdoptionPlan> {
  // A movement without a receipt goes by its reference, in the letters of the reference.
  const named = { receipts: [...receipts, ...receipts.map(receiptOf)] };
  const found = await rows<Found>(executor, `${FIND} ${lock}`, named);
  const costs = await costsFor(executor, merchant_id, defaults);
  const plan: AdoptionPlan = { merchant_id, lines: [], refused: [] };
  // In one order, so that two adoptions at once do not wait for each other.
  for (const receipt of [...receipts].sort()) {
    const [one, ...more] = found.filter((each) =>
      [receipt, receiptOf(receipt)].includes(each.receipt),
    );
    const adopted = plan.lines.map(({ receipt: each }) => each);
    const why = await whyNot(executor, merchant_id, one, more.length > 0, adopted);
    if (why !== null) plan.refused.push({ receipt, why });
    else plan.lines.push(lineOf(one!, costs));
  }
  if (plan.lines.length === 0) {
    const [first] = plan.refused;
    throw new OperatorRefusal(`None of them can be adopted: ${first?.receipt}: ${first?.why}`);
  }
  await requireMoney(executor, plan);
  return plan;
}

interface Found {
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
}

const FIND = `SELECT id AS discrepancy_id, merchant_id, gateway, trans_id AS receipt, amount_cents,
    coalesce(payment_kind, details->>'kind') AS moved, details->>'reference' AS reference,
    details->>'account' AS account, CAST(details->>'completed_at' AS timestamptz) AS completed_at,
    -- The candidates of a line that names none are looked for anew.
    details->>'candidates' IS NOT NULL AND details->>'reference' IS NOT NULL
      OR NOT evidence_complete
      OR (SELECT count(DISTINCT jsonb_build_array(
          e->'amount_cents', (e->'details') - 'candidates')) FROM jsonb_array_elements(evidence) e
        WHERE NOT CAST(e->'decided' AS boolean)) <> 1 AS is_doubtful
  FROM discrepancies
  WHERE ${IS_UNKNOWN} AND resolved_at IS NULL
    AND trans_id = ANY (:receipts)
  ORDER BY id`;

/** Says why a receipt cannot be adopted; null if it can. */
async function whyNot(
  executor: Database | Transaction,
  merchant_id: number,
  found: Found | undefined,
  hasMore: boolean,
  adopted: readonly string[],
): Promise<string | null> {
  if (!found) return 'no open unknown movement has it';
  const { moved: kind, receipt, gateway, reference } = found;
  if (hasMore || found.is_doubtful) return 'several movements or payments may be meant';
  if (found.merchant_id !== null && found.merchant_id !== merchant_id) {
    return `it is of merchant ${found.merchant_id}`;
  }
  if (kind !== 'collection' && kind !== 'payout') return 'it is neither collection nor payout';
  if (found.amount_cents === null) return 'its amount is not known';
  if (await isToldAsWell(executor, found)) {
    return 'it is told once with its receipt and once without: dismiss one of the two first';
  }
  const line = { kind, reference, trans_id: receipt };
  const [
    payment = (await paymentNamed(executor, found)) ??
      (await paymentLike(executor, found, adopted)),
  ] = await candidatesOf(executor, gateway, line);
  if (payment) return `it may be that of ${nameOf(payment)}: ask the gateway about it`;
  const { account, amount_cents, completed_at } = found;
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

/** Tells whether another finding may be about the same money: one of the two has no receipt. */
function isToldAsWell(executor: Database | Transaction, found: Found): Promise<boolean> {
  return hasRow(
    executor,
    `SELECT 1 FROM discrepancies
     WHERE ${IS_UNEXPLAINED} AND gateway = :gateway AND id <> :discrepancy_id
       AND (resolved_at IS NULL OR resolution = 'adopted')
       AND :reference IN (trans_id, CAST(:receipt AS text))
       AND (coalesce(payment_kind, details->>'kind') = 'collection') = (:moved = 'collection')`,
    { ...found, trans_id: found.receipt },
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
     UNION ALL SELECT payment_kind, merchant_id, payment_id FROM movements
       WHERE trans_id = :receipt AND amount_cents = :amount_cents AND booked <> 'undone'
     LIMIT 1`,
    { receipt, reference, amount_cents, uuid },
  );
}

/**
 * Finds a payment at any gateway that has no receipt yet, and that money which names none may be of: its account,
 * its amount and its time fit. If the payment is completed, other money that fits may be its own, unless that is
 * adopted too.
 */
async function paymentLike(
  executor: Database | Transaction,
  { moved, gateway, receipt, reference, account, amount_cents, completed_at }: Found,
  adopted: readonly string[],
): Promise<PaymentRef | undefined> {
  if (moved !== 'collection' && moved !== 'payout') return;
  // One of ours names a payment that is not here. Any other may be what a customer has typed.
  if ((reference !== null && isUuid(reference)) || completed_at === null) return;
  const money = { kind: moved, trans_id: receipt, amount_cents: amount_cents! };
  const alike: Awaited<ReturnType<typeof paymentsLike>> = [];
  for (const kind of moved === 'payout' ? OUTGOING : [moved]) {
    const like = { ...money, kind, account, completed_at };
    alike.push(...(await paymentsLike(executor, null, like)));
  }
  for (const payment of alike.filter(({ has_receipt }) => !has_receipt)) {
    // The adoption takes a payout from the wallet again. Late money of a collection asks about adopted money.
    if (payment.is_over) continue;
    const rivals = { gateway, import_id: null };
    const undecided = { without: adopted };
    if (!payment.is_completed) return payment;
    if (!(await hasRival(executor, rivals, money, payment, undecided))) return payment;
  }
}

/** A file may list a return as a payout. */
const OUTGOING: readonly GatewayPaymentKind[] = ['payout', 'return'];

type Costs = Readonly<Record<AdoptableLine['kind'], Rate>>;

async function costsFor(
  executor: Database | Transaction,
  merchant_id: number,
  { commissionDefaults, payoutFeeDefaults }: AdoptionRates,
): Promise<Costs> {
  return {
    collection: await rateOfMerchant(executor, merchant_id, 'commission', commissionDefaults),
    payout: await rateOfMerchant(executor, merchant_id, 'payout_fee', payoutFeeDefaults),
  };
}

function lineOf(found: Found, costs: Costs): AdoptableLine {
  const { discrepancy_id, gateway, receipt, reference } = found;
  const kind = found.moved as AdoptableLine['kind'];
  const amount_cents = found.amount_cents!;
  const cost_cents = commissionOn(amount_cents, costs[kind]);
  return { discrepancy_id, kind, gateway, receipt, reference, amount_cents, cost_cents };
}

/** Returns what a wallet gains by a plan, in cents. */
export function gainOf({ lines, merchant_id }: AdoptionPlan, wallet: Adoption['kind']): number {
  const entries = lines.map((line) => entryOf({ ...line, merchant_id, id: '' }, ''));
  const own = entries.filter((entry) => entry.wallet === wallet);
  return own.reduce((sum, { amount_cents }) => sum + amount_cents, 0);
}

async function requireMoney(executor: Database | Transaction, plan: AdoptionPlan): Promise<void> {
  const { payout: has = 0 } = await walletBalances(executor, plan.merchant_id);
  const needs = -gainOf(plan, 'payout');
  if (needs <= has) return;
  throw new OperatorRefusal(
    `The payout wallet holds ${kes(has)}, and the payouts take ${kes(needs)}: top it up first`,
  );
}

/** A plan that somebody has asked for. */
export type AskedAdoption = Pick<AdoptionPlan, 'merchant_id' | 'lines'>;

/**
 * Adopts what was asked for, in the caller's transaction. Each receipt is claimed, so no payment and
 * no other adoption can have it.
 * @throws OperatorRefusal when any of it would be different by now
 */
export async function adoptAsAsked(
  trx: Transaction,
  { merchant_id, lines }: AskedAdoption,
  { requested_by: actor, reason }: { requested_by: string; reason: string },
  defaults: AdoptionRates,
): Promise<AuditedChange<AskedAdoption>> {
  await lockMerchant(trx, merchant_id);
  const receipts = lines.map(({ receipt }) => receipt);
  const now = await planAdoption(trx, { merchant_id, receipts }, defaults, 'FOR NO KEY UPDATE');
  if (!isDeepStrictEqual(now.lines, lines)) {
    throw new OperatorRefusal('What would be adopted has changed since: reject it, and ask anew');
  }
  for (const line of lines) await adoptOne(trx, merchant_id, line, { actor, reason });
  const adopted = lines.map(({ receipt, kind, amount_cents, cost_cents }) => {
    return { receipt, kind, amount: formatAmount(amount_cents), cost: formatAmount(cost_cents) };
  });
  const audit = { merchant_id, subject: `merchant ${merchant_id}`, details: { adopted } };
  return { value: { merchant_id, lines }, audit };
}

async function adoptOne(
  trx: Transaction,
  merchant_id: number,
  line: AdoptableLine,
  by: { actor: string; reason: string },
): Promise<void> {
  const { receipt: reference, kind } = line;
  const adoption = { ...line, merchant_id, id: uuidv7() };
  const isClaimed = await hasRow(
    trx,
    `WITH adopted AS (
       INSERT INTO adoptions (merchant_id, id, discrepancy_id, gateway, kind, receipt, reference,
         amount_cents, cost_cents)
       VALUES (:merchant_id, :id, :discrepancy_id, :gateway, :kind, :receipt, :reference,
         :amount_cents, :cost_cents)
     )
     INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
     VALUES (:gateway, :direction, :receipt, :merchant_id, 'adoption', :id)
     ON CONFLICT DO NOTHING RETURNING receipt`,
    { ...adoption, direction: directionOf(kind) },
  );
  const booking = isClaimed && (await bookOperatorEntry(trx, entryOf(adoption, by.reason)));
  if (!booking || booking.repeated) {
    throw new OperatorRefusal(
      `Receipt ${reference} was booked a moment ago: reject it, and ask anew`,
    );
  }
  await markResolved(trx, line.discrepancy_id, { ...by, as: 'adopted' });
}
