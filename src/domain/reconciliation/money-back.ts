import { validate as isUuid } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { supersedeWhere } from '../discrepancies/supersede.ts';
import { openUnknown } from '../discrepancies/unknown-movement.ts';
import { type AnyPayment, lockPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { isMasked, sameAccount } from '../settlement/same-account.ts';
import { casesOf } from '../support/discrepancy-cases.ts';
import { latestMomentOf } from './candidates.ts';
import type { LineResult, StatementRef, StoredLine } from './statement.ts';

/*
 * A gateway, or a bank, takes a payout back some time after it has completed: the number was not registered, or the
 * recipient has complained. A file has a row for that, which does not name the payout.
 */

/** A payout comes back within this time, or is found by people. Where digits are hidden, fewer payouts are looked at. */
const COMES_BACK_WITHIN = { whole: '90 days', masked: '14 days' };

/** More payouts than this are as doubtful as these. */
const MAX_FITTING = 5;

/**
 * Asks support about each line that brings money back: at the payout that it fits, or, if none or several fit, as money
 * that no payment explains. It books nothing.
 * @throws the reason of `stopping`, between two lines
 */
export async function askAboutMoneyBack(
  database: Database,
  statement: StatementRef,
  by: 'statement' | 'file',
  stopping?: AbortSignal,
): Promise<void> {
  const lines = await rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines
     WHERE import_id = :import_id AND has_come_back AND result IS NULL ORDER BY line_no`,
    statement,
  );
  for (const line of lines) {
    stopping?.throwIfAborted();
    await inTransaction(database, async (trx) => {
      const result = await askAbout(trx, statement, line, by);
      await rows(
        trx,
        `UPDATE statement_lines SET result = :result
         WHERE import_id = :import_id AND line_no = :line_no`,
        { ...statement, line_no: line.line_no, result },
      );
    });
  }
}

async function askAbout(
  trx: Transaction,
  { gateway }: StatementRef,
  line: StoredLine,
  by: 'statement' | 'file',
): Promise<LineResult> {
  const asked = await answerOf(trx, gateway, line);
  if (asked === 'explained') return 'matched';
  if (asked === 'open' || asked === 'undo') return 'contradicts';
  const isSilent = asked === 'dismissed' || (await wasDismissed(trx, gateway, line));
  const { fitting, payout, isKnown } = isSilent ? NO_PAYOUT : await payoutOf(trx, gateway, line);
  const locked = payout && (await lockPayment(trx, payout));
  // It may have been undone while this waited. Money of a failed payout has a question already.
  const isSame = locked && (await payoutOf(trx, gateway, line)).isKnown === isKnown;
  if (!isSame || (!isKnown && locked.status !== 'completed')) {
    await openUnknown(trx, { gateway, by }, line, fitting.map(nameOf));
    return 'unknown';
  }
  await endUnknown(trx, gateway, line);
  // The gateway may have told the same, and nobody has decided yet.
  const alreadyAsked = (await casesOf(trx, refOf(locked))).find(
    ({ kind, resolved_at }) => kind === 'failure_after_success' && resolved_at === null,
  );
  if (alreadyAsked) await tellAt(trx, locked, line, { by, trans_id: alreadyAsked.trans_id });
  const isExplained = isKnown || alreadyAsked !== undefined;
  await tellAt(trx, locked, line, { by, trans_id: nameOfRow(line), isExplained });
  return isKnown ? 'matched' : 'contradicts';
}

/** The payouts whose money a line may bring back. */
interface BroughtBack {
  fitting: Fitting[];
  /** The payout that it is about; null if several may be meant, or none. */
  payout: Fitting | null;
  /** All that fit have come back before: each explains one row. */
  isKnown: boolean;
}

const NO_PAYOUT: BroughtBack = { fitting: [], payout: null, isKnown: false };

async function payoutOf(trx: Transaction, gateway: string, line: StoredLine): Promise<BroughtBack> {
  const fitting = await payoutsLike(trx, gateway, line);
  const [first = null, ...more] = fitting;
  const isKnown = first !== null && fitting.every(({ is_undone }) => is_undone);
  return { fitting, payout: isKnown || more.length === 0 ? first : null, isKnown };
}

/** Tells whether somebody has dismissed the line as money that no payment explains, perhaps after booking it by hand. */
function wasDismissed(trx: Transaction, gateway: string, line: StoredLine): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies WHERE kind = 'unknown_movement' AND gateway = :gateway
       AND trans_id = :name AND details ? 'has_come_back' AND resolution = 'dismissed'`,
    { gateway, name: nameOfRow(line) },
  );
}

function nameOfRow({ trans_id, reference }: StoredLine): string {
  return (trans_id ?? reference)!;
}

/**
 * Asks about a payout, or adds the row to the question that is open about it.
 * @param told.trans_id is the receipt of the question
 * @param told.isExplained is true if the coming back is known, or asked about already: then the row is noted at the
 * payout, which explains no other row
 */
async function tellAt(
  trx: Transaction,
  payout: AnyPayment,
  line: StoredLine,
  told: { by: 'statement' | 'file'; trans_id: string | null; isExplained?: boolean },
): Promise<void> {
  const { by, trans_id, isExplained = false } = told;
  await openDiscrepancy(trx, {
    kind: 'failure_after_success',
    payment: refOf(payout),
    trans_id,
    amount_cents: line.amount_cents,
    details: {
      code: null,
      description: 'A statement lists that the money has come back',
      has_come_back: true,
      receipt: nameOfRow(line),
      completed_at: line.completed_at.toISOString(),
      ...(isExplained && { explained: true }),
    },
    told: { by, at: null },
  });
  if (!isExplained) return;
  const isRow = "d.kind = 'failure_after_success' AND d.trans_id = :trans_id";
  await supersedeWhere(trx, refOf(payout), isRow, { trans_id });
}

/**
 * Returns the answer to the question that an earlier statement with this line has opened; null without such a question.
 * It is explained if the payout has come back by another word.
 */
async function answerOf(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
): Promise<string | null> {
  const asked = await firstRow<{ answer: string }>(
    trx,
    `SELECT CASE WHEN d.details ? 'explained' OR d.resolution = 'dismissed' AND p.undone_at IS NOT NULL
       THEN 'explained' ELSE coalesce(d.resolution, 'open') END AS answer
     FROM discrepancies d JOIN payouts p ON p.merchant_id = d.merchant_id AND p.id = d.payment_id
     WHERE d.kind = 'failure_after_success' AND d.gateway = :gateway AND d.trans_id = :name
       AND d.amount_cents = :amount_cents AND d.payment_kind = 'payout' ORDER BY d.resolved_at DESC LIMIT 1`,
    { gateway, name: nameOfRow(line), amount_cents: line.amount_cents },
  );
  return asked?.answer ?? null;
}

/** Ends the question about the line as money that no payment explains: a payout is asked about instead. */
async function endUnknown(trx: Transaction, gateway: string, line: StoredLine): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE kind = 'unknown_movement' AND gateway = :gateway AND trans_id = :name
       AND amount_cents = :amount_cents AND details ? 'has_come_back' AND resolved_at IS NULL`,
    { gateway, name: nameOfRow(line), amount_cents: line.amount_cents },
  );
}

/**
 * SQL: the money of a failed payout `p` that has moved after all, or seemed to: it waits for support, or support has said
 * that it has come back.
 */
const PAID_AFTER_FAILURE = `p.status = 'failed' AND (m.booked = 'suspense'
  OR m.booked IN ('cleared', 'undone') AND EXISTS (SELECT FROM discrepancies d
    WHERE d.merchant_id = p.merchant_id AND d.payment_kind = 'payout' AND d.payment_id = p.id
      AND d.trans_id = m.trans_id AND d.resolution IN ('returned', 'undo')))`;

/** A payout that a line may bring back. */
type Fitting = PaymentRef & { is_undone: boolean };

/**
 * Finds the payouts that the line may bring back: the payout that it names, or else the payouts of its account, amount
 * and time. A payout whose money has come back already is among them: the line may list that. A line that shows no
 * account may be of anybody, and finds none.
 */
async function payoutsLike(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
): Promise<Fitting[]> {
  const { reference, account, amount_cents, completed_at } = line;
  const hides = account !== null && isMasked(account);
  const isOfAccount = hides
    ? sameAccount('p.payto', 'CAST(:account AS text)')
    : 'p.payto = :account';
  const within = COMES_BACK_WITHIN[hides ? 'masked' : 'whole'];
  const found = await rows<Fitting & { is_named: boolean }>(
    trx,
    `SELECT 'payout' AS kind, p.merchant_id, p.id, bool_and(m.booked NOT IN ('settled', 'suspense')) AS is_undone,
       coalesce(:reference IN (CAST(p.reference AS text), p.external_ref), false) AS is_named
     FROM merchants JOIN payouts p ON p.merchant_id = merchants.id
       AND (${isOfAccount} OR p.reference = CAST(:uuid AS uuid) OR p.external_ref = :reference)
     JOIN movements m ON m.merchant_id = p.merchant_id AND m.payment_kind = 'payout'
       AND m.payment_id = p.id AND m.amount_cents = :amount_cents
       AND (m.booked = 'settled' OR m.booked IN ('undoing', 'undone', 'cleared') AND p.undone_at IS NOT NULL
         OR ${PAID_AFTER_FAILURE})
     WHERE p.gateway = :gateway AND coalesce(m.completed_at, p.created_at) < :latest
       -- Another row has brought it back.
       AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
         AND d.payment_kind = 'payout' AND d.payment_id = p.id AND d.kind = 'failure_after_success'
         AND d.details ? 'has_come_back' AND d.trans_id <> :name
         AND d.resolution IS DISTINCT FROM 'dismissed')
       -- People have called it lost. Money that comes after all is news.
       AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
         AND d.payment_kind = 'payout' AND d.payment_id = p.id AND d.kind = 'undone_money'
         AND d.resolution = 'failed')
       AND p.created_at > CAST(:completed_at AS timestamptz) - interval '${within}'
     GROUP BY p.merchant_id, p.id, p.created_at
     ORDER BY is_named DESC, p.created_at DESC, p.id LIMIT ${MAX_FITTING}`,
    {
      gateway,
      reference,
      account,
      amount_cents,
      completed_at,
      latest: latestMomentOf(line),
      name: nameOfRow(line),
      uuid: reference !== null && isUuid(reference) ? reference : null,
    },
  );
  const named = found.filter(({ is_named }) => is_named);
  return (named.length > 0 ? named : found).map(({ is_named: _, ...payout }) => payout);
}
