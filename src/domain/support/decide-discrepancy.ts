import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import type { WalletKind } from '../ledger/post-journal.ts';
import { formatAmount } from '../money.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { findPayment, type PaymentRef } from '../payments/payment-store.ts';
import { withoutForms } from '../settlement/same-account.ts';
import { othersOf } from './claimants.ts';
import { type DiscrepancyCase, findCase, findDiscrepancy, paymentOf } from './discrepancy-cases.ts';
import { moneyThatWaits } from './money-that-waits.ts';
import { whetherSuccessStands, whoSaysOtherwise } from './other-words.ts';
import { type JournalRow, journalsOf } from './payment-file.ts';
import type { Decision, Resolution, ResolveOptions } from './resolution.ts';
import { lockPayments, resolveDiscrepancy } from './resolve-discrepancy.ts';

/** A discrepancy before and after the decision about it. */
export interface Decided {
  before: DiscrepancyCase;
  after: DiscrepancyCase;
  /** The journals that the decision booked. */
  booked: JournalDocument[];
  /** The other payments that it settles: the gateway has told the freed receipt for them. */
  others: SettledOther[];
  /** Says who has told otherwise of the money that the decision uses; null if nobody has. */
  otherwise: string | null;
  /** The wallets of the merchant whose balances it changed, in cents. */
  wallets: { kind: WalletKind; before_cents: number; after_cents: number }[];
  /** The payment goes on with this, because of the decision: its refund, or a question to the gateway. */
  goesOn: 'refund' | 'poll' | null;
  /** The amount of its refund, with the fee, in cents; 0 for other kinds than payouts. */
  refund_cents: number;
}

/** Another payment, maybe of another merchant, before and after a decision. */
interface SettledOther extends PaymentRef {
  from: PaymentStatus;
  to: PaymentStatus;
  booked: JournalDocument[];
}

/** A journal as people read it. */
export type JournalDocument = ReturnType<typeof journalDocument>;

/** Returns the most money that a decision may be about, in cents; 0 when no amount is known. */
export function stakeOf(found: DiscrepancyCase): number {
  const { asked_cents, amount_cents, suspense_cents, adopted_cents, evidence } = found;
  const undecided = evidence.filter(({ decided }) => !decided);
  const told = undecided.map((each) => each.amount_cents ?? 0);
  const known = [asked_cents, amount_cents, suspense_cents, adopted_cents];
  const sum = isOfSeveral(found) ? told.reduce((total, cents) => total + cents, 0) : 0;
  return Math.max(sum, ...told, ...known.map((cents) => cents ?? 0));
}

/** Tells whether the findings are of as much money each: a batch has one name, perhaps one receipt for several accounts. */
function isOfSeveral({ kind, trans_id, details, evidence }: DiscrepancyCase): boolean {
  if (kind === 'money_back') return true;
  if (kind !== 'unknown_movement') return false;
  const accounts = evidence
    .filter(({ decided }) => !decided)
    .flatMap(({ details: { account } }) => (typeof account === 'string' ? account : []));
  if (withoutForms(accounts).length > 1) return true;
  return trans_id === details.reference;
}

/** Tells whether a decision takes an adoption back. Two people made it, whatever its amount. */
export function takesAdoptionBack({ is_adopted }: DiscrepancyCase, as: Resolution): boolean {
  return is_adopted && as === 'undo';
}

/** Decides in the caller's transaction, in which nothing may be locked before the payment. */
export async function decideWithin(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<AuditedChange<Decided>> {
  const value = await decide(trx, id, decision, options);
  return { value, audit: auditOf(value, decision) };
}

const GOES_THEN = 'Money that goes back to the customer waits for this, and goes then.';

/** Carries what a decision would do out of the transaction that it undoes. */
class Undone extends Error {
  readonly decided: Decided;

  constructor(decided: Decided) {
    super('A preview is undone');
    this.decided = decided;
  }
}

/**
 * Tells what a decision about a discrepancy would do: it is made, and undone at once.
 * @throws OperatorRefusal when it cannot be decided like that
 */
export async function previewDecision(
  database: Database,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Decided> {
  try {
    return await inTransaction(database, async (trx) => {
      throw new Undone(await decide(trx, id, decision, options));
    });
  } catch (error) {
    if (error instanceof Undone) return error.decided;
    throw error;
  }
}

async function decide(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Decided> {
  const found = await findCase(trx, id);
  if (!found) throw new OperatorRefusal(`There is no discrepancy ${id}`);
  const ref = paymentOf(found);
  // Locks the payment before reading, so that no other work counts as booked by this decision.
  await lockPayments(trx, found, decision.as);
  // A callback may be asking about its money at this moment.
  await findDiscrepancy(trx, id, 'FOR UPDATE');
  const before = (await findCase(trx, id))!;
  const bookedSince = ref ? await watchJournals(trx, ref) : async () => [];
  const settledSince = await watchOthers(trx, before, decision.as);
  const balances = await balancesOf(trx, before);
  const stepBefore = await stepOf(trx, ref);
  const toldBefore = await whoSaysOtherwise(trx, before, decision.as);
  const waiting = await moneyThatWaits(trx, before);
  await resolveDiscrepancy(trx, id, decision, options);
  const wallets = (await balancesOf(trx, before)).flatMap(({ kind, balance_cents }, index) => {
    const { balance_cents: before_cents } = balances[index]!;
    return before_cents === balance_cents
      ? []
      : [{ kind, before_cents, after_cents: balance_cents }];
  });
  const after = (await findCase(trx, id))!;
  const { goesOn, refund_cents } = await stepOf(trx, ref);
  const waits = await moneyThatWaits(trx, before);
  const letsGo = decision.as === 'dismissed' && waiting.some((id) => !waits.includes(id));
  return {
    before,
    after,
    booked: await bookedSince(),
    others: await settledSince(),
    // The payment may only now have got money that somebody had dismissed.
    otherwise:
      toldBefore ??
      (letsGo ? GOES_THEN : null) ??
      (await whoSaysOtherwise(trx, before, decision.as)) ??
      (await whetherSuccessStands(trx, before, after)),
    wallets,
    refund_cents,
    goesOn: goesOn === stepBefore.goesOn ? null : goesOn,
  };
}

/** Reads the journals of a payment. @returns what tells which ones were booked since */
async function watchJournals(
  trx: Transaction,
  ref: PaymentRef,
): Promise<() => Promise<JournalDocument[]>> {
  const known = new Set((await journalsOf(trx, ref)).map(({ id }) => id));
  return async () =>
    (await journalsOf(trx, ref)).filter(({ id }) => !known.has(id)).map(journalDocument);
}

/** Reads the other payments that a decision may settle. @returns what tells which ones it has settled */
async function watchOthers(
  trx: Transaction,
  found: DiscrepancyCase,
  as: Resolution,
): Promise<() => Promise<SettledOther[]>> {
  const watched = new Map<string, () => Promise<SettledOther>>();
  for (const ref of await othersOf(trx, found, as)) {
    if (watched.has(ref.id)) continue;
    const { kind, merchant_id, id, status: from } = (await findPayment(trx, ref))!;
    const bookedSince = await watchJournals(trx, ref);
    watched.set(id, async () => {
      const { status: to } = (await findPayment(trx, ref))!;
      return { kind, merchant_id, id, from, to, booked: await bookedSince() };
    });
  }
  return async () => {
    const others: SettledOther[] = [];
    for (const read of watched.values()) others.push(await read());
    return others.filter(({ from, to, booked }) => from !== to || booked.length > 0);
  };
}

/** Returns what a payment goes on with now, if nothing holds it up. */
async function stepOf(
  trx: Transaction,
  ref: PaymentRef | null,
): Promise<Pick<Decided, 'goesOn' | 'refund_cents'>> {
  const payment = ref ? await findPayment(trx, ref) : undefined;
  const isHeld = !payment || payment.parked_reason !== null;
  const step = isHeld ? null : payment.next_step;
  const refund_cents = payment?.kind === 'payout' ? payment.amount_cents + payment.fee_cents : 0;
  return { goesOn: step === 'refund' || step === 'poll' ? step : null, refund_cents };
}

function balancesOf(trx: Transaction, { merchant_id }: Pick<DiscrepancyCase, 'merchant_id'>) {
  return rows<{ kind: WalletKind; balance_cents: number }>(
    trx,
    'SELECT kind, balance_cents FROM wallets WHERE merchant_id = :merchant_id ORDER BY kind',
    { merchant_id },
  );
}

function auditOf({ before, after, booked, others }: Decided, { as, transId }: Decision) {
  return {
    merchant_id: before.merchant_id,
    subject: `discrepancy ${before.id}`,
    details: {
      kind: before.kind,
      resolution: as,
      // The sums of lately count it, unless two people have decided.
      stake_cents: stakeOf(before),
      payment: before.payment_kind && `${before.payment_kind} ${before.payment_id}`,
      status: { from: before.status, to: after.status },
      ...(transId && { trans_id: transId }),
      journals: booked,
      ...(others.length > 0 && { others }),
    },
  };
}

export function journalDocument({ id, source_kind, kind, created_at, entries }: JournalRow) {
  return {
    id,
    source: source_kind,
    kind,
    created_at: created_at.toISOString(),
    entries: entries.map(({ account, amount_cents }) => ({
      account,
      amount: formatAmount(amount_cents),
    })),
  };
}
