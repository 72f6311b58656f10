import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { isMasked, isSameAccount } from '../settlement/same-account.ts';

/** The kinds, with the words that support reads. */
export const DISCREPANCY_KINDS = {
  other_amount: 'another amount moved than was asked for',
  other_account: 'money moved from or to another account',
  second_success: 'a second receipt for one payment',
  failure_after_success: 'the gateway takes back a success',
  return_failed: 'late money could not be given back',
  paid_after_failure: 'a failed collection was paid, in another amount or as a file says',
  paid_after_refund: 'a payout arrived after its refund',
  second_reversal: 'a failed reversal succeeded after another took its place',
  never_taken: 'it could not be sent before its deadline',
  taken_after_failure: 'the gateway took it after it was failed here',
  taken_twice: 'the gateway took it twice, under two references',
  overdue: 'the gateway has not said in time how it ended',
  missing_at_gateway: "not in the gateway's statement",
  unknown_movement: 'at the gateway, not with us',
  money_back: 'a row brings money back, and nobody knows of which payment',
  receipt_of_another: 'its receipt belongs to another payment',
  other_payment: 'the news names another payment',
  unreadable_callback: 'a genuine callback that nobody can read',
  unclear_result: 'an outcome with a code that the driver does not know',
  unconfirmed_success: 'a large success that the gateway did not confirm when asked',
  unknown_payment: 'a callback for a payment that is not with us',
  undone_money: 'undone here, and nothing shows yet that the money came back',
  doubted: 'somebody doubts the word of support about its end',
} as const;
export type DiscrepancyKind = keyof typeof DISCREPANCY_KINDS;

/** The detail that says that the gateway has told a success, without the amount and the account of a file. */
export const GATEWAY_TOLD_SUCCESS = 'gateway_told_success';

/** Begins the reason of a payment that is parked until somebody decides. The kind of the question follows. */
export const FOR_DECISION = 'discrepancy: ';

/** The detail that names how the gateway has told again of money about which people have decided. */
export const TOLD_AGAIN_BY = 'told_again_by';

/**
 * SQL: an open question about the place of a payment's money, which holds its refund up. Money that
 * is to come back after an undo holds nothing up, unless the gateway has told of it again. The doubt of a person
 * holds nothing up either.
 */
const HOLDS_UP = `resolved_at IS NULL
  AND (movement_id IS NOT NULL OR kind IN ('receipt_of_another', 'unconfirmed_success')
    OR kind IN ('unclear_result', 'other_payment') AND evidence @@ 'exists($[*] ? (@.decided == false
      && (@.details.has_moved == true || @.details.outcome == "succeeded")))'
    OR kind = 'doubted'
      AND evidence @@ 'exists($[*] ? (@.decided == false).details.${TOLD_AGAIN_BY})')
  AND NOT (kind = 'undone_money' AND jsonb_array_length(evidence) = 1 AND EXISTS (
    SELECT FROM movements m WHERE m.merchant_id = discrepancies.merchant_id
      AND m.id = discrepancies.movement_id AND m.booked = 'undoing'))`;

/**
 * Returns an open question about the place of a payment's money. Lock the payment first.
 * @param except is the discrepancy that is being decided, if any
 */
export async function openQuestion(
  trx: Transaction,
  payment: PaymentRef,
  except: string | null = null,
): Promise<DiscrepancyKind | null> {
  const found = await firstRow<{ kind: DiscrepancyKind }>(
    trx,
    `SELECT kind FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND id IS DISTINCT FROM CAST(:except AS uuid) AND ${HOLDS_UP}
     ORDER BY id LIMIT 1`,
    { ...payment, except },
  );
  return found?.kind ?? null;
}

/** A finding. It names its gateway, unless its payment is in the database and names it. */
export type NewDiscrepancy = {
  kind: DiscrepancyKind;
  /** The movement that waits in suspense for the decision. */
  movement_id?: string;
  trans_id?: string | null;
  amount_cents?: number | null;
  /** The facts that support needs, in the gateway's words. */
  details: Record<string, unknown>;
  /** The gateway's news. Left out for findings of our own. */
  told?: Told | undefined;
  /** Tells whether a known finding says the same. Without it, all facts of the two must be equal. */
  isSame?: (known: Finding) => boolean;
} & ({ payment: PaymentRef; gateway?: string } | { payment: null; gateway: string });

/** The way in which the gateway has told something. */
export interface Told {
  /**
   * 'callback', which nobody asked for, or else 'answer', 'poll', 'statement' or 'submission'; 'file'
   * for a statement that somebody has brought.
   */
  by: string;
  /** When the gateway said it, or when it was asked. A repeated callback or file said it before. */
  at: Date | null;
}

/**
 * Puts a discrepancy on the support list. The same finding again changes nothing, even after somebody has
 * resolved it, unless it still contradicts the books and the gateway has told it anew since. A different one is
 * added to the evidence of an open discrepancy. It opens a resolved one anew, which keeps the decision
 * in its details. The audit log keeps every decision.
 * @returns whether it was new.
 */
export async function openDiscrepancy(trx: Transaction, found: NewDiscrepancy): Promise<boolean> {
  const { movement_id = null, amount_cents = null, details, told } = found;
  const finding = { movement_id, amount_cents, details };
  const bindings = {
    ...finding,
    details: JSON.stringify(details),
    finding: JSON.stringify({
      ...finding,
      told_by: told?.by ?? null,
      told_at: told?.at ?? null,
      decided: false,
    }),
  };
  const { isNew, ...known } = await insertOrLock(trx, found, bindings);
  if (isNew) return true;
  const same = known.evidence.filter(found.isSame ?? ((each) => tellsAll(each, finding)));
  if (same.length > 0 && !isNews(found.kind, known, same, told)) return false;
  if (known.resolved_at === null && same.length > 0)
    await tellAnew(trx, known, same.at(-1)!, bindings);
  else if (known.resolved_at === null) await addEvidence(trx, known, bindings);
  else await openAnew(trx, known, bindings);
  return true;
}

type Known = {
  id: string;
  evidence: Evidence[];
  resolved_at: Date | null;
  resolution: string | null;
};
type Bindings = Record<string, unknown>;

/** SQL: the finding as evidence. */
const FOUND = `(CAST(:finding AS jsonb) || jsonb_build_object('found_at', clock_timestamp()))`;

/** Inserts a discrepancy, or locks the known one. Two processes may find something at once. */
async function insertOrLock(
  trx: Transaction,
  { kind, payment, gateway, trans_id = null }: NewDiscrepancy,
  bindings: Bindings,
): Promise<Known & { isNew: boolean }> {
  const id = uuidv7();
  const gatewayOfPayment = payment
    ? `(SELECT p.gateway FROM ${STEP_TABLES[payment.kind].table} p
        WHERE p.merchant_id = :merchant_id AND p.id = :payment_id)`
    : 'NULL';
  const row = await firstRow<Known>(
    trx,
    `INSERT INTO discrepancies
       (id, kind, gateway, merchant_id, payment_kind, payment_id, trans_id, movement_id,
        amount_cents, details, evidence)
     VALUES (:id, :kind, coalesce(:gateway, ${gatewayOfPayment}), :merchant_id, :payment_kind,
       :payment_id, :trans_id, :movement_id, :amount_cents, CAST(:details AS jsonb),
       jsonb_build_array(${FOUND}))
     ON CONFLICT (gateway, merchant_id, payment_kind, payment_id, kind, trans_id)
       DO UPDATE SET kind = excluded.kind
     RETURNING id, evidence, resolved_at, resolution`,
    {
      ...bindings,
      id,
      kind,
      trans_id,
      gateway: gateway ?? null,
      merchant_id: payment?.merchant_id ?? null,
      payment_kind: payment?.kind ?? null,
      payment_id: payment?.id ?? null,
    },
  );
  return { ...row!, isNew: row!.id === id };
}

async function addEvidence(trx: Transaction, { id, evidence }: Known, bindings: Bindings) {
  const isFull = evidence.filter(({ decided }) => !decided).length >= MAX_EVIDENCE;
  await rows(
    trx,
    `UPDATE discrepancies SET movement_id = coalesce(movement_id, :movement_id),
       ${isFull ? 'evidence_complete = false' : `evidence = evidence || ${FOUND}`}
     WHERE id = :id`,
    { ...bindings, id },
  );
}

/** Notes that the gateway has told a finding of an open discrepancy again, and when. */
async function tellAnew(
  trx: Transaction,
  { id, evidence }: Known,
  same: Evidence,
  bindings: Bindings,
): Promise<void> {
  await rows(
    trx,
    'UPDATE discrepancies SET evidence = jsonb_set(evidence, ARRAY[:at], CAST(:finding AS jsonb)) WHERE id = :id',
    {
      id,
      at: String(evidence.indexOf(same)),
      finding: JSON.stringify({ ...JSON.parse(String(bindings.finding)), found_at: same.found_at }),
    },
  );
}

/** SQL: the reference of the money, which the new finding does not name. */
const KEEPING_REFERENCE = `CASE WHEN details->>'reference' IS NOT NULL
    AND CAST(:details AS jsonb)->>'reference' IS NULL
  THEN jsonb_build_object('reference', details->'reference') ELSE '{}' END`;

async function openAnew(trx: Transaction, known: Known, bindings: Bindings) {
  const { id, evidence, resolution } = known;
  // Later news had settled it, and no person has decided.
  const isDecided = resolution !== 'superseded';
  const kept = isDecided ? decidedEvidence(evidence) : evidence.slice(1 - MAX_EVIDENCE);
  await rows(
    trx,
    `UPDATE discrepancies SET movement_id = :movement_id, amount_cents = :amount_cents,
       details = CAST(:details AS jsonb) || ${KEEPING_REFERENCE} || CASE WHEN :isDecided
         THEN jsonb_build_object('decided_before',
           jsonb_build_object('as', resolution, 'by', resolved_by, 'at', resolved_at,
             'amount_cents', amount_cents, 'details', details - 'decided_before'))
         WHEN details ? 'decided_before'
         THEN jsonb_build_object('decided_before', details->'decided_before') ELSE '{}' END,
       evidence = CAST(:kept AS jsonb) || ${FOUND}, evidence_complete = true,
       opened_at = now(), resolved_at = NULL, resolution = NULL, resolved_by = NULL,
       resolved_reason = NULL
     WHERE id = :id`,
    { ...bindings, id, isDecided, kept: JSON.stringify(kept) },
  );
}

/** One of the findings that a discrepancy is about. */
export interface Evidence {
  /** ISO 8601. */
  found_at: string;
  /** The movement that waits in suspense for the decision. */
  movement_id: string | null;
  amount_cents: number | null;
  details: Record<string, unknown>;
  /** The source of the gateway's news, and when the gateway said it. */
  told_by?: string | null;
  told_at?: string | null;
  /** Somebody has decided about it. Later findings have opened the discrepancy anew. */
  decided: boolean;
}

/** A finding that is not stored yet. */
export type Finding = Omit<Evidence, 'found_at' | 'told_by' | 'told_at' | 'decided'>;

/** The findings of one discrepancy that people decide about at once. More of them need a person, not a longer list. */
export const MAX_EVIDENCE = 20;

/** The findings that it keeps besides, with the decision about them: without it, the next statement would ask again. */
const MAX_DECIDED = 1_000;

/** Answers and statements come again and again. Each kind of them may say the same so often. */
const MAX_TOLD = 2;

/** The decisions after which the same finding may contradict the books: they were right, or are now. */
const DECIDED_AGAINST: readonly (string | null)[] = ['dismissed', 'accept-amount'];

/**
 * Later news answers these kinds for good. The same words may come again: an acknowledgement is recorded once more after
 * an outage, or a gateway repeats a callback.
 */
const SETTLED_FOR_GOOD: ReadonlySet<DiscrepancyKind> = new Set([
  ...(['taken_after_failure', 'unclear_result', 'unknown_payment'] as const),
]);

/**
 * Tells whether a known finding is a question again: it contradicts the books anew and nobody has decided about it, or
 * the gateway has told it anew since somebody decided against it. A failure is another one after each decision.
 * @param same is the evidence that says the same
 */
function isNews(
  kind: DiscrepancyKind,
  { resolution, resolved_at }: Known,
  same: Evidence[],
  told?: Told,
): boolean {
  if (resolved_at === null) return kind === 'failure_after_success' && isNewest(same, told);
  const isSince = !told?.at || told.at > resolved_at;
  if (resolution === 'superseded') return isSince && !SETTLED_FOR_GOOD.has(kind);
  const isAgainst = DECIDED_AGAINST.includes(resolution) || kind === 'failure_after_success';
  if (!told?.at || !isSince || !isAgainst) return false;
  return told.by === 'callback' || same.filter((e) => e.told_by === told.by).length < MAX_TOLD;
}

/** Tells whether the gateway has told the same later than ever before. An approval that waits was asked before this. */
function isNewest(same: Evidence[], told?: Told): boolean {
  const at = told?.at;
  return at != null && same.every(({ told_at }) => told_at != null && at > new Date(told_at));
}

/**
 * Returns what a finding says. The same news in another callback is the same, and so is money that fits other
 * payments by now.
 */
function factsOf({ movement_id, amount_cents, details }: Finding) {
  const { callback_id: _, candidates: __, ...facts } = JSON.parse(JSON.stringify(details));
  return { movement_id, amount_cents, facts };
}

/** Tells whether a known finding says all that another one says. That may show less digits of the same phone. */
function tellsAll(known: Finding, found: Finding): boolean {
  const [own, { facts, ...others }] = [factsOf(known), factsOf(found)];
  const { account } = facts;
  const isLess =
    typeof account === 'string' &&
    isMasked(account) &&
    typeof own.facts.account === 'string' &&
    isSameAccount(own.facts.account, account);
  return isDeepStrictEqual(own, {
    ...others,
    facts: isLess ? { ...facts, account: own.facts.account } : facts,
  });
}

/** Returns the evidence after a decision. */
function decidedEvidence(evidence: Evidence[]): Evidence[] {
  return evidence.slice(-MAX_DECIDED).map((each) => ({ ...each, decided: true }));
}
