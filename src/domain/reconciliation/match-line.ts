import { validate as isUuid } from 'uuid';
import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { isOfUnknownPayment } from '../discrepancies/unknown-movement.ts';
import type { GatewayPaymentKind, ParserOf, Succeeded } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { movementsOf, repeatedMovement } from '../settlement/movements.ts';
import { isMasked, sameAccount } from '../settlement/same-account.ts';
import { settle } from '../settlement/settle.ts';
import type { Spend } from './ceiling.ts';
import {
  type LineResult,
  PAYMENTS_OF_LINES,
  type StatementRef,
  type StoredLine,
} from './statement.ts';

/** Bounds what a person has to look at. */
const MAX_CANDIDATES = 10;

/**
 * Finds the payments that a line may be about: by our reference, by the gateway's reference, and
 * by a receipt that is booked and not undone. It tries all three, because they may disagree.
 */
export async function candidatesOf(
  trx: Transaction,
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
     UNION SELECT payment_kind, merchant_id, payment_id FROM movements
       WHERE trans_id = :trans_id AND gateway = :gateway AND booked <> 'undone'
         AND ${isSameDirection('payment_kind', ':kind')}
     ORDER BY merchant_id, id LIMIT :limit`,
    {
      gateway,
      kind,
      reference,
      trans_id,
      limit: MAX_CANDIDATES,
      uuid: reference !== null && isUuid(reference) ? reference : null,
    },
  );
}

/** The customer pays within this time of the request. Clocks may differ by as much. */
export const PAID_WITHIN = { before_minutes: 30, after_minutes: 5 };

/**
 * Finds the collections that a line without a reference may be about: asked of the same phone, for
 * the same amount, not long before, and without a receipt so far. A failed one is among them, and
 * is marked: its customer may have paid by hand afterwards, for something else. A gateway that keeps no
 * reference of ours tells no more when both its acknowledgement and its callback were lost.
 */
async function collectionsLike(
  trx: Transaction,
  gateway: string,
  { account, amount_cents, completed_at }: StoredLine,
): Promise<(PaymentRef & { has_failed: boolean })[]> {
  return rows<PaymentRef & { has_failed: boolean }>(
    trx,
    `SELECT 'collection' AS kind, c.merchant_id, c.id, c.status = 'failed' AS has_failed
     FROM merchants JOIN collections c ON c.merchant_id = merchants.id
       AND ${account !== null && isMasked(account) ? sameAccount('c.payfrom', 'CAST(:account AS text)') : 'c.payfrom = :account'}
       AND c.created_at > CAST(:completed_at AS timestamptz) - :before_minutes * interval '1 minute'
       AND c.created_at < CAST(:completed_at AS timestamptz) + :after_minutes * interval '1 minute'
     WHERE c.gateway = :gateway AND c.amount_cents = :amount_cents AND c.undone_at IS NULL
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = c.merchant_id
         AND m.payment_kind = 'collection' AND m.payment_id = c.id AND m.trans_id IS NOT NULL)
       AND EXISTS (SELECT FROM attempts a WHERE a.merchant_id = c.merchant_id
         AND a.payment_kind = 'collection' AND a.payment_id = c.id)
     ORDER BY c.merchant_id, c.id LIMIT :limit`,
    { ...PAID_WITHIN, gateway, account, amount_cents, completed_at, limit: MAX_CANDIDATES },
  );
}

function paymentsOf(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}' AS kind, merchant_id, id FROM ${STEP_TABLES[kind].table}
    WHERE gateway = :gateway AND ${condition}`;
}

/**
 * Returns a condition on the kinds of two movements: both came in, or both went out. A gateway may
 * use a receipt once in each direction.
 */
export function isSameDirection(kind: string, other: string): string {
  return `(${kind} = 'collection') = (${other} = 'collection')`;
}

/** A statement whose lines are applied. */
export interface MatchedStatement extends StatementRef {
  parserOf: ParserOf;
  /** Counts the money that its lines end. */
  spend?: Spend;
  /** Somebody has brought it as a file. */
  isFromFile?: boolean;
}

/** Matches one line of a statement. @returns the payment, if the line was news about it */
export async function matchLine(
  database: Database,
  statement: MatchedStatement,
  line: StoredLine,
): Promise<PaymentRef | null> {
  const { import_id, gateway } = statement;
  return inTransaction(database, async (trx) => {
    const named = await candidatesOf(trx, gateway, line);
    const alike =
      named.length === 0 && namesNobody(line) ? await collectionsLike(trx, gateway, line) : [];
    const candidates = [...named, ...alike];
    const isCertain = !alike.some(({ has_failed }) => has_failed);
    const payment = isCertain ? theOnlyOne(line, candidates) : null;
    const result = payment
      ? await applyLine(trx, payment, line, statement)
      : await reportUnexplained(trx, gateway, line, candidates);
    await rows(
      trx,
      `UPDATE statement_lines SET result = :result
       WHERE import_id = :import_id AND line_no = :line_no`,
      { import_id, line_no: line.line_no, result },
    );
    if (result === 'settled') statement.spend?.(line.amount_cents);
    return result === 'settled' ? payment : null;
  });
}

/** Tells whether only phone, amount and time tell which collection a line is about. */
function namesNobody({ kind, reference, account }: StoredLine): boolean {
  return kind === 'collection' && reference === null && account !== null;
}

/** Returns the payment that a line is about. If several fit, nobody knows. */
function theOnlyOne(line: StoredLine, [first, ...others]: PaymentRef[]): PaymentRef | null {
  if (!first || others.length > 0) return null;
  return PAYMENTS_OF_LINES[line.kind].includes(first.kind) ? first : null;
}

async function applyLine(
  trx: Transaction,
  ref: PaymentRef,
  line: StoredLine,
  { parserOf, isFromFile = false }: MatchedStatement,
): Promise<LineResult> {
  const payment = await lockPayment(trx, ref);
  if (!payment) throw new Error(`${ref.kind} ${ref.id} is gone`);
  const news: Succeeded = {
    outcome: 'succeeded',
    transId: line.trans_id,
    externalRef: null,
    amountCents: line.amount_cents,
    account: line.account,
    description: 'In the statement of the gateway',
    completedAt: line.completed_at,
  };
  const settlement = await settle(trx, payment, news, {
    cause: 'statement',
    parserOf,
    isFromFile,
  });
  await fillTime(trx, payment, news);
  if (settlement === 'repeat') return 'matched';
  return settlement === 'discrepancy' ? 'contradicts' : 'settled';
}

/** Fills the time of a movement. Without a time it would seem missing in other statements. */
async function fillTime(trx: Transaction, payment: AnyPayment, news: Succeeded): Promise<void> {
  const movement = repeatedMovement(await movementsOf(trx, payment), news);
  if (!movement || movement.completed_at !== null) return;
  await rows(
    trx,
    `UPDATE movements SET completed_at = :completed_at
     WHERE merchant_id = :merchant_id AND id = :id AND completed_at IS NULL`,
    { merchant_id: payment.merchant_id, id: movement.id, completed_at: news.completedAt },
  );
}

/**
 * Reports a line that is not booked: no payment explains it, or several fit. If a callback has
 * reported the movement, it is on the support list already.
 */
async function reportUnexplained(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
  candidates: PaymentRef[],
): Promise<LineResult> {
  const isContrary = candidates.length > 0;
  if (!isContrary && (await isOfUnknownPayment(trx, { ...line, gateway }))) return 'unknown';
  await openDiscrepancy(trx, {
    kind: 'unknown_movement',
    gateway,
    payment: null,
    // Without a receipt, the reference tells it from others.
    trans_id: line.trans_id ?? line.reference,
    amount_cents: line.amount_cents,
    details: {
      kind: line.kind,
      reference: line.reference,
      account: line.account,
      completed_at: line.completed_at.toISOString(),
      ...(isContrary && { candidates: candidates.map(nameOf) }),
    },
  });
  return isContrary ? 'contradicts' : 'unknown';
}

function nameOf({ kind, id, merchant_id }: PaymentRef): string {
  return `${kind} ${id} of merchant ${merchant_id}`;
}
