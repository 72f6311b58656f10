import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { type Database, hasRow, type Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { lockMerchant } from '../merchants/merchant.ts';
import { commissionOn, formatAmount, kes, type Rate } from '../money.ts';
import { type Adoption, entryOf } from '../settlement/adoptions.ts';
import { directionOf } from '../settlement/receipts.ts';
import { receiptOf } from '../text.ts';
import { walletBalances } from '../wallets/list-transactions.ts';
import { bookOperatorEntry } from '../wallets/operator-entries.ts';
import { rateOfMerchant } from './complete-from-suspense.ts';
import { markResolved } from './discrepancy-cases.ts';
import { type Found, findAdoptable, whyNotAdopted } from './refuse-adoption.ts';

/** The receipts that one adoption may have. */
export const MAX_ADOPTED = 200;

/** The rates of merchants that have none of their own. */
export interface AdoptionRates {
  commissionDefaults: Rate;
  payoutFeeDefaults: Rate;
}

/** Money that can be adopted, under the discrepancy that tells of it. */
export interface AdoptableLine extends Omit<Adoption, 'id' | 'merchant_id'> {
  /** The gateway itself has told it: not only a file. */
  is_told: boolean;
}

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
  const named = [...receipts, ...receipts.map(receiptOf)];
  const found = await findAdoptable(executor, named, lock);
  const costs = await costsFor(executor, merchant_id, defaults);
  const plan: AdoptionPlan = { merchant_id, lines: [], refused: [] };
  // In one order, so that two adoptions at once do not wait for each other.
  for (const receipt of [...receipts].sort()) {
    const [one, ...more] = found.filter((each) =>
      [receipt, receiptOf(receipt)].includes(each.receipt),
    );
    const adopted = plan.lines.map(({ receipt: each }) => each);
    const why = await whyNotAdopted(executor, merchant_id, one, more.length > 0, adopted);
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
  const { discrepancy_id, gateway, receipt, reference, is_told } = found;
  const kind = found.moved as AdoptableLine['kind'];
  const amount_cents = found.amount_cents!;
  const cost_cents = commissionOn(amount_cents, costs[kind]);
  return { discrepancy_id, kind, gateway, receipt, reference, amount_cents, cost_cents, is_told };
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
