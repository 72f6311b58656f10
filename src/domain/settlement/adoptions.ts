import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { bookedByHandFor } from '../discrepancies/booked-by-hand.ts';
import { IS_LIKE, type MovedMoney } from '../discrepancies/dismissed-money.ts';
import { supersedeWhere } from '../discrepancies/supersede.ts';
import { mayBeUnexplained } from '../discrepancies/unknown-money.ts';
import { OperatorRefusal } from '../errors.ts';
import { takeChargeBack } from '../gateway-accounts/charges.ts';
import type { GatewayPaymentKind, Succeeded } from '../gateway-results.ts';
import { postNewJournal } from '../ledger/post-journal.ts';
import { undoneLines } from '../payments/journals.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';
import { linesOfEntry, type OperatorEntry } from '../wallets/operator-entries.ts';
import type { MovementRef } from './movements.ts';
import { directionOf, ownerOfReceipt } from './receipts.ts';

/*
 * After a restore the gateway has moved money of payments that are not here. Two people may adopt
 * it: it is booked on a merchant's wallet, under its receipt. If the payment comes after all, it
 * becomes a question, so that nothing is booked twice.
 */

/** Money of a payment that is not here, booked on a merchant's wallet. */
export interface Adoption extends MovementRef {
  discrepancy_id: string;
  kind: 'collection' | 'payout';
  gateway: string;
  receipt: string;
  /** Ours, if the gateway has repeated it. */
  reference: string | null;
  amount_cents: number;
  /** The commission or the fee, in cents. */
  cost_cents: number;
}

/** An adoption, with the account and the time that its money was told with. */
export interface FoundAdoption extends Adoption {
  account: string | null;
  completed_at: Date | null;
}

/** A movement in the words of its gateway. What it does not say is null. */
interface ToldMovement {
  gateway: string;
  kind: GatewayPaymentKind;
  reference: string | null;
  trans_id: string | null;
  /** Null: of any amount. */
  amount_cents: number | null;
}

/** SQL: the finding `e` of the money that was adopted: other lines may have come to its question since. */
const FINDING = `(SELECT e FROM discrepancies d, jsonb_array_elements(d.evidence) AS e
    WHERE d.id = discrepancy_id AND CAST(e->>'found_at' AS timestamptz) < adopted_at
    ORDER BY e->>'found_at' DESC LIMIT 1) AS of_adoption`;

/**
 * Finds the adoption of a movement by its receipt. Our reference counts where one of the two has no
 * receipt: another receipt is other money. An adoption without one has the reference in its place.
 */
export function findAdoption(
  trx: Transaction,
  told: ToldMovement,
): Promise<FoundAdoption | undefined> {
  return firstRow<FoundAdoption>(
    trx,
    `SELECT adoptions.*, told->>'account' AS account,
       CAST(told->>'completed_at' AS timestamptz) AS completed_at
     FROM adoptions LEFT JOIN LATERAL (SELECT e->'details' AS told FROM ${FINDING}) AS finding ON true
     WHERE gateway = :gateway AND (receipt = :trans_id OR reference = :reference
         AND (CAST(:trans_id AS text) IS NULL OR receipt = reference)
         -- A statement has told its receipt.
         OR id IN (SELECT payment_id FROM receipts WHERE gateway = :gateway
           AND direction = :direction AND upper(receipt) = upper(:trans_id)
           AND payment_kind = 'adoption'))
       AND (kind = 'collection') = (CAST(:kind AS text) = 'collection')
       AND coalesce(amount_cents = :amount_cents, true) AND taken_back_at IS NULL LIMIT 1`,
    { ...told, direction: directionOf(told.kind) },
  );
}

/**
 * Finds the adoption of the money that a gateway tells of for a payment, under our reference or the
 * gateway's own. It waits for one that is being made, and for any other decision about the same discrepancy. Most
 * often there is no discrepancy.
 * @param options.isOwn is false for a reference that the gateway has not told for the payment: other money may have it
 */
export async function adoptionOf(
  trx: Transaction,
  { gateway, kind, reference, external_ref: acknowledged }: AnyPayment,
  { transId: trans_id, externalRef }: Pick<Succeeded, 'transId' | 'externalRef'>,
  { isOwn = true }: { isOwn?: boolean } = {},
): Promise<(MovementRef & { kind: 'adoption' }) | undefined> {
  const external_ref = externalRef ?? acknowledged;
  const isKnown = await hasRow(
    trx,
    `SELECT id FROM discrepancies
     WHERE ${mayBeUnexplained(':reference, :external_ref')} AND gateway = :gateway
     ORDER BY id FOR NO KEY UPDATE`,
    { gateway, reference, external_ref, trans_id },
  );
  if (!isKnown) return undefined;
  for (const each of [reference, external_ref]) {
    const told = { gateway, kind, reference: each, trans_id, amount_cents: null };
    // Another receipt of the same payment is a question too: somebody must see both.
    const found =
      (await findAdoption(trx, told)) ??
      (isOwn ? await findAdoption(trx, { ...told, trans_id: null }) : undefined);
    if (found) return { kind: 'adoption', merchant_id: found.merchant_id, id: found.id };
  }
  return undefined;
}

/** Finds adopted money that may be this money of a payment: it is as that, and one of the two has no receipt. */
export function adoptionsLike(
  trx: Transaction,
  money: MovedMoney,
): Promise<(MovementRef & { kind: 'adoption'; receipt: string })[]> {
  return rows(
    trx,
    `SELECT 'adoption' AS kind, a.merchant_id, a.id, a.receipt FROM adoptions a CROSS JOIN LATERAL ${FINDING}
     WHERE a.gateway = :gateway AND a.amount_cents = :amount_cents AND a.taken_back_at IS NULL AND ${IS_LIKE}
       AND (CAST(:receipt AS text) IS NULL OR a.receipt = a.reference AND NOT EXISTS (SELECT FROM receipts r
         WHERE r.payment_kind = 'adoption' AND r.payment_id = a.id AND upper(r.receipt) <> upper(a.receipt)))
     ORDER BY a.id`,
    money,
  );
}

/**
 * Claims a receipt for an adoption that has none: a statement of the gateway lists its reference with the receipt now.
 * A payment that comes with that receipt is a question then.
 * @returns false when the money is booked under that receipt as well: by another adoption, a payment, or by hand
 */
export async function nameAdoption(
  trx: Transaction,
  adoption: Adoption,
  receipt: string | null,
): Promise<boolean> {
  if (receipt === null || adoption.receipt !== adoption.reference) return true;
  const inForce =
    'SELECT FROM adoptions WHERE merchant_id = :merchant_id AND id = :id AND taken_back_at IS NULL FOR SHARE';
  if (!(await hasRow(trx, inForce, adoption))) return true;
  if ((await bookedByHandFor(trx, [receipt])) !== null) return false;
  await rows(
    trx,
    `INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
     VALUES (:gateway, :direction, :named, :merchant_id, 'adoption', :id) ON CONFLICT DO NOTHING`,
    { ...adoption, direction: directionOf(adoption.kind), named: receipt },
  );
  const owner = await ownerOfReceipt(trx, adoption, receipt);
  return owner?.id === adoption.id;
}

/** Returns the entry that books an adoption: what the merchant gains or gives, against the float. */
export function entryOf(adoption: Adoption, reason: string): OperatorEntry {
  const { merchant_id, kind, receipt: reference, amount_cents: moved, cost_cents } = adoption;
  const isIn = kind === 'collection';
  return {
    kind: 'adjustment',
    source_id: adoption.id,
    merchant_id,
    wallet: kind,
    amount_cents: isIn ? moved - cost_cents : -moved - cost_cents,
    reference,
    reason: `${isIn ? 'Collection, net of commission' : 'Payout with its fee'}: ${reason}`,
    against: [
      { account: 'gateway_float', amount_cents: isIn ? -moved : moved },
      { account: isIn ? 'commission' : 'fees', amount_cents: cost_cents },
    ],
  };
}

/**
 * Takes an adoption back, because its payment has come. Its receipt is free again, and its money is
 * unknown again until the payment explains it, also if somebody has dismissed it since.
 * @throws OperatorRefusal when it was taken back before
 */
export async function takeBackAdoption(
  trx: Transaction,
  ref: MovementRef,
  reason: string,
): Promise<void> {
  const adoption = await firstRow<Adoption>(
    trx,
    `UPDATE adoptions SET taken_back_at = now()
     WHERE merchant_id = :merchant_id AND id = :id AND taken_back_at IS NULL RETURNING *`,
    ref,
  );
  if (!adoption) throw new OperatorRefusal('The adoption was taken back before');
  await rows(
    trx,
    `DELETE FROM receipts WHERE gateway = :gateway AND direction = :direction
       AND payment_kind = 'adoption' AND payment_id = :id AND upper(receipt) IN (
         SELECT upper(:receipt) UNION ALL SELECT upper(trans_id) FROM statement_lines
         WHERE reference = :reference AND trans_id IS NOT NULL)`,
    { ...adoption, direction: directionOf(adoption.kind) },
  );
  await rows(
    trx,
    `UPDATE discrepancies SET opened_at = now(), resolved_at = NULL, resolution = NULL,
       resolved_by = NULL, resolved_reason = NULL
     WHERE id = :discrepancy_id AND resolved_at IS NOT NULL`,
    adoption,
  );
  await takeChargeBack(trx, adoption, adoption.gateway);
  const lines = undoneLines(linesOfEntry(entryOf(adoption, reason)));
  const { merchant_id, id: source_id } = adoption;
  await postNewJournal(trx, {
    merchant_id,
    source_kind: 'adjustment',
    source_id,
    kind: 'undone',
    lines,
  });
}

/**
 * Takes the other questions of a payment about an adoption off the support list, because the adoption was taken back.
 * @param except is the question that is decided now
 */
export async function supersedeOtherQuestions(
  trx: Transaction,
  payment: PaymentRef,
  adoption: MovementRef,
  except: string,
): Promise<void> {
  await supersedeWhere(
    trx,
    payment,
    "d.kind = 'receipt_of_another' AND d.details->>'adoption' = :adoption AND d.id <> :except",
    { adoption: adoption.id, except },
  );
}
