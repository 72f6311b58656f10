import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { IS_GIVEN } from '../reconciliation/statement.ts';
import { isSameAccount, sameAccount } from '../settlement/same-account.ts';
import { merchantByHand, namesOfQuestion } from './booked-by-hand.ts';
import { type Finding, openDiscrepancy } from './discrepancy.ts';
import { IS_UNKNOWN } from './unknown-money.ts';

/** A movement in the words of its gateway. What it does not say is null. */
interface ToldMovement {
  gateway: string;
  /** Our reference at the gateway. */
  reference: string | null;
  trans_id: string | null;
  amount_cents: number | null;
}

/**
 * Returns a condition: `discrepancies` is about money that no payment here explained when it was
 * reported, under one of these references or `:trans_id`. It is the condition of an index.
 */
export function isUnexplained(references: string): string {
  return `${IS_UNKNOWN}
    AND (details->>'reference' IN (${references})
      OR details->>'reference' IS NULL AND trans_id = :trans_id)`;
}

export const IS_UNEXPLAINED = isUnexplained(':reference');

/**
 * Returns a condition: the same, and the receipt counts whatever the reference. A file may have the reference of
 * somebody else's system.
 */
export function mayBeUnexplained(references: string): string {
  return `${IS_UNKNOWN}
    AND (details->>'reference' IN (${references}) OR gateway = :gateway AND trans_id = :trans_id)`;
}

/** The kinds about money that no payment here explained when it was reported. */
const UNEXPLAINED = ['unknown_movement', 'unknown_payment'] as const;

/** SQL: somebody has dismissed the money, now or before it was a question again. */
const WAS_DISMISSED =
  "(resolution = 'dismissed' OR details->'decided_before'->>'as' = 'dismissed')";

/** SQL: an admin has booked the money by hand, under a name of the question or of the payment. */
const IS_BY_HAND = `(${merchantByHand(
  `${namesOfQuestion('discrepancies')} || CAST(:references AS text[]) || CAST(:trans_id AS text)`,
)} IS NOT NULL)`;

/** SQL: a reference of the payment stands for the receipt, or the receipt is this one. */
const IS_NAMED = '(trans_id IS NULL OR trans_id = :trans_id OR trans_id = ANY (:references))';

/** SQL: the details, with the decision if the money was dismissed. */
const KEEPING_DECISION = `details || CASE WHEN resolution = 'dismissed' THEN
    jsonb_build_object('decided_before', jsonb_build_object('as', resolution, 'by', resolved_by,
      'at', resolved_at, 'amount_cents', amount_cents, 'details', details - 'decided_before'))
    ELSE '{}' END`;

/** SQL: lines without a receipt list the money at two times: it may have moved twice. */
const IS_OF_TWO_TIMES = `(trans_id IS NOT DISTINCT FROM details->>'reference' AND (
    SELECT max(at) - min(at) > interval '5 minutes' FROM jsonb_array_elements(evidence) AS e,
      LATERAL (SELECT CAST(e->'details'->>'completed_at' AS timestamptz) AS at) AS line
    WHERE NOT CAST(e->'decided' AS boolean)) IS TRUE)`;

/** SQL: a line without a receipt lists the money, and a callback has told of as much under its reference before. */
const IS_THE_SECOND = `(kind = 'unknown_movement' AND trans_id = details->>'reference' AND EXISTS (
    SELECT FROM discrepancies first, jsonb_array_elements(first.evidence) AS e
    WHERE first.${IS_UNKNOWN} AND first.kind = 'unknown_payment' AND first.gateway = :gateway
      AND first.details->>'reference' = discrepancies.trans_id
      AND CAST(e->>'amount_cents' AS bigint) = discrepancies.amount_cents
      AND CAST(e->>'found_at' AS timestamptz) < (
        SELECT min(CAST(own->>'found_at' AS timestamptz))
        FROM jsonb_array_elements(discrepancies.evidence) AS own)))`;

/** SQL: the payment that had the money, and has it no more. */
const KEEPING_OWNER = `CASE WHEN details ? 'booked_for'
    THEN jsonb_build_object('was_booked_for', details->'booked_for') ELSE '{}' END`;

/** SQL: money of this kind has the direction of the payment: both came in, or both went out. */
const isThisDirection = (kind: string) =>
  `(${kind} = 'collection') = (CAST(:payment_kind AS text) = 'collection')`;

/**
 * SQL: the money has the direction of the payment. A gateway may use a receipt once in each direction: then a finding
 * of either is here.
 */
export const IS_THIS_DIRECTION = `(coalesce(${isThisDirection('payment_kind')}, NOT evidence_complete)
  OR EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e
    WHERE ${isThisDirection("coalesce(payment_kind, e->'details'->>'kind')")}))`;

/**
 * Takes a movement that was not explained off the support list, because something has explained
 * it: a payment that a restored database did not have has come again, or a callback has named it.
 * The movement is known by a reference, or by its receipt if nothing else was known. It stays on the list when
 * other facts were found under the same receipt, or the same ones at two times without a receipt, or when somebody has
 * dismissed it before or booked it by hand.
 * @param movement.known_as is our reference, if the payment has had its money before. A line under that reference without
 * a receipt is about other money
 */
export async function supersedeUnknown(
  trx: Transaction,
  movement: MoneyOfPayment & Pick<ToldMovement, 'amount_cents'> & { known_as?: string | null },
  kinds: readonly (typeof UNEXPLAINED)[number][] = UNEXPLAINED,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE ${isUnexplained('SELECT unnest(CAST(:references AS text[]))')}
       AND kind = ANY (:kinds) AND resolved_at IS NULL AND gateway = :gateway
       AND NOT coalesce(details->'decided_before'->>'as' = 'dismissed', false)
       AND NOT details ? 'booked_for' AND NOT ${IS_BY_HAND}
       AND ${IS_NAMED} AND coalesce(trans_id <> :known_as, true) AND NOT ${IS_OF_TWO_TIMES} AND NOT ${IS_THE_SECOND}
       AND evidence_complete AND NOT EXISTS (
         SELECT FROM jsonb_array_elements(evidence) AS e
         WHERE NOT CAST(e->'decided' AS boolean)
           AND NOT (coalesce(${IS_THIS_MOVEMENT}, false) AND ${SAME_AMOUNT}))`,
    { known_as: null, ...movement, kinds },
  );
}

/**
 * Puts such a movement back on the support list, because what explained it was wrong. Somebody may have
 * dismissed it because of that explanation.
 */
export async function reopenUnknown(trx: Transaction, movement: ReleasedMoney): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET opened_at = now(), details = (${KEEPING_DECISION}) - 'booked_for' || ${KEEPING_OWNER},
       resolved_at = NULL, resolution = NULL, resolved_by = NULL, resolved_reason = NULL
     WHERE ${mayBeUnexplained('SELECT unnest(CAST(:references AS text[]))')} AND gateway = :gateway
       -- The payment that has had this money, by an open question, has it no more.
       AND (resolved_at IS NULL AND details ? 'booked_for' AND ${IS_NAMED} AND ${IS_THIS_DIRECTION}
           -- A reference stands for all money of the payment.
           AND (coalesce(trans_id = :trans_id, CAST(:trans_id AS text) IS NULL)
             OR trans_id = ANY (:references) AND NOT EXISTS (SELECT FROM movements m
               WHERE m.merchant_id = :merchant_id AND m.payment_kind = :payment_kind
                 AND m.payment_id = :payment_id AND m.id <> :id AND m.booked <> 'undone'))
         OR resolution = 'dismissed' AND trans_id = :trans_id AND ${IS_THIS_DIRECTION}
         OR resolution IN ('superseded', 'dismissed') AND ${IS_NAMED}
           AND EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e WHERE ${IS_THIS_MOVEMENT}))`,
    movement,
  );
}

/** Money in the words of a gateway, with the references of the payment that it is told of, our own and the gateway's. */
interface MoneyOfPayment extends Pick<ToldMovement, 'gateway' | 'trans_id'> {
  references: (string | null)[];
  payment_kind: GatewayPaymentKind;
}

/** Money that a payment has no more, with the movement of it. */
interface ReleasedMoney extends MoneyOfPayment {
  id: string;
  merchant_id: number;
  payment_id: string;
}

/**
 * SQL: it is this money, and somebody has dismissed it, or booked it by hand. A reference counts where one of the two
 * has no receipt.
 */
const IS_DISMISSED_MONEY = `${IS_UNKNOWN} AND gateway = :gateway
  AND (trans_id = :trans_id OR details->>'reference' = ANY (:references)
    AND (CAST(:trans_id AS text) IS NULL OR trans_id IS NULL OR trans_id = details->>'reference'))
  AND (resolved_at IS NULL OR resolution = 'dismissed')
  AND (${WAS_DISMISSED} OR ${IS_BY_HAND})
  AND ${IS_THIS_DIRECTION}`;

/** Tells whether somebody has dismissed money, because it was booked by hand, or sent back, or has booked it by hand. */
export function isDismissed(trx: Transaction, money: MoneyOfPayment): Promise<boolean> {
  return hasRow(trx, `SELECT 1 FROM discrepancies WHERE ${IS_DISMISSED_MONEY}`, money);
}

/**
 * Asks about money that somebody has dismissed, or booked by hand, because a payment has it now: it may have been
 * booked twice, or sent back.
 * @param owner is the name of the payment
 */
export async function askAboutDismissed(
  trx: Transaction,
  money: MoneyOfPayment,
  owner: string,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET
       opened_at = CASE WHEN resolved_at IS NULL THEN opened_at ELSE now() END,
       details = ${KEEPING_DECISION} || jsonb_build_object('booked_for', CAST(:owner AS text)),
       resolved_at = NULL, resolution = NULL, resolved_by = NULL, resolved_reason = NULL
     WHERE ${IS_DISMISSED_MONEY}
       -- Somebody has answered for this payment already.
       AND NOT coalesce(resolution = 'dismissed' AND details->>'booked_for' = :owner, false)`,
    { ...money, owner },
  );
}

/** SQL: the other payments that a question about dismissed money names. */
const ALSO_FOR = "coalesce(details->'also_for', '[]')";

/** Money of a payment of which the gateway has told no receipt, and when it may have moved. */
export interface MoneyWithoutReceipt {
  gateway: string;
  kind: GatewayPaymentKind;
  account: string;
  amount_cents: number;
  since: Date;
  until: Date;
}

/**
 * Asks about money that names no payment, and that somebody has dismissed, perhaps because it was booked by hand: a
 * payment of its account, amount and time has completed without a receipt, and may have got it. If another payment is
 * asked about already, the question names both.
 * @param owner is the name of the payment
 */
export async function askAboutDismissedLike(
  trx: Transaction,
  money: MoneyWithoutReceipt,
  owner: string,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET
       opened_at = CASE WHEN resolved_at IS NULL THEN opened_at ELSE now() END,
       details = CASE WHEN resolved_at IS NULL
         THEN details || jsonb_build_object('also_for', ${ALSO_FOR} || to_jsonb(CAST(:owner AS text)))
         ELSE ${KEEPING_DECISION} || jsonb_build_object('booked_for', CAST(:owner AS text)) END,
       resolved_at = NULL, resolution = NULL, resolved_by = NULL, resolved_reason = NULL
     WHERE kind = 'unknown_movement' AND details->>'reference' IS NULL AND gateway = :gateway
       AND amount_cents = :amount_cents AND details->>'kind' = :kind
       AND (resolution = 'dismissed' OR resolved_at IS NULL AND details ? 'booked_for')
       AND coalesce(${sameAccount("details->>'account'", ':account')}, true)
       -- Nobody has asked before the money moved: the index has this time, too.
       AND opened_at > :since
       AND CAST(details->>'completed_at' AS timestamptz) BETWEEN :since AND :until
       -- Somebody has answered for this payment already, or it is asked about.
       AND details->>'booked_for' IS DISTINCT FROM :owner AND NOT ${ALSO_FOR} @> to_jsonb(CAST(:owner AS text))
       AND NOT EXISTS (SELECT FROM movements m
         WHERE m.gateway = :gateway AND m.trans_id = discrepancies.trans_id AND m.booked <> 'undone')`,
    { ...money, owner },
  );
}

/**
 * Takes a payment out of such questions: it has got another receipt. A question that names no other payment is set back to
 * what people had decided.
 * @param owner is the name of the payment
 */
export async function endDismissedLike(
  trx: Transaction,
  { gateway, amount_cents }: Pick<MoneyWithoutReceipt, 'gateway' | 'amount_cents'>,
  owner: string,
  receipt: string,
): Promise<void> {
  const isOpen = `kind = 'unknown_movement' AND details->>'reference' IS NULL AND gateway = :gateway
    AND amount_cents = :amount_cents AND resolved_at IS NULL AND trans_id <> :receipt
    AND details->'decided_before'->>'as' = 'dismissed'`;
  const asked = { gateway, amount_cents, owner, receipt };
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'dismissed',
       resolved_by = details->'decided_before'->>'by',
       resolved_reason = 'The payment has another receipt'
     WHERE ${isOpen} AND details->>'booked_for' = :owner AND jsonb_array_length(${ALSO_FOR}) = 0`,
    asked,
  );
  await rows(
    trx,
    `UPDATE discrepancies SET details = details
       || jsonb_build_object('also_for', (${ALSO_FOR} - CAST(:owner AS text)) - others.first)
       || CASE WHEN details->>'booked_for' = :owner
         THEN jsonb_build_object('booked_for', others.first) ELSE '{}' END
     FROM (SELECT id AS of, CASE WHEN details->>'booked_for' = :owner THEN ${ALSO_FOR}->>0 ELSE '' END AS first
       FROM discrepancies WHERE ${isOpen}) others
     WHERE id = others.of AND (details->>'booked_for' = :owner
       OR ${ALSO_FOR} @> to_jsonb(CAST(:owner AS text)))`,
    asked,
  );
}

/**
 * Tells whether a payment has completed with money that somebody has dismissed, and nobody has decided about that.
 * @param owner is the name of the payment
 */
export function isAskedAsDismissed(
  database: Database | Transaction,
  gateway: string,
  owner: string,
): Promise<boolean> {
  return hasRow(
    database,
    `SELECT 1 FROM discrepancies
     WHERE ${IS_UNKNOWN} AND resolved_at IS NULL
       AND gateway = :gateway AND details->>'booked_for' = :owner
       -- Money that waits completes nothing.
       AND NOT EXISTS (SELECT FROM movements m WHERE m.gateway = :gateway
         AND m.trans_id = discrepancies.trans_id AND m.booked = 'suspense')`,
    { gateway, owner },
  );
}

/** A line of a statement that no payment explains. */
interface UnknownLine {
  kind: string;
  reference: string | null;
  account: string | null;
  trans_id: string | null;
  amount_cents: number;
  completed_at: Date;
  /** It brings back money that had gone out. */
  has_come_back?: boolean;
}

/** What tells of a line: the gateway's own statement, or a file that somebody has brought. */
type Teller = 'statement' | 'file';

/**
 * Puts the money of a line on the support list. Another statement may list the same money in another form.
 * @param candidates are the names of the payments that it may be of
 */
export async function openUnknown(
  trx: Transaction,
  { gateway, by }: { gateway: string; by: Teller },
  line: UnknownLine,
  candidates: string[] = [],
): Promise<void> {
  const { kind, reference, account, trans_id, amount_cents, completed_at } = line;
  const { has_come_back = false } = line;
  const fits = candidates.length > 0 ? { candidates } : {};
  const isNew = await openDiscrepancy(trx, {
    kind: 'unknown_movement',
    gateway,
    payment: null,
    // Without a receipt, the reference tells it from others.
    trans_id: trans_id ?? reference,
    amount_cents,
    details: {
      kind,
      reference,
      account,
      completed_at: completed_at.toISOString(),
      ...(has_come_back && { has_come_back }),
      ...fits,
    },
    told: { by, at: null },
    isSame: (known) => isSameMoney(known, line),
  });
  if (isNew) return;
  // The same money. Other payments may fit it by now, this statement may show its whole account, and a file may have
  // told it before the gateway did.
  await rows(
    trx,
    `UPDATE discrepancies SET
       details = ${KEEPING_ACCOUNT('details', 'amount_cents')} - 'candidates' || CAST(:fits AS jsonb),
       evidence = (SELECT jsonb_agg(jsonb_set(e, '{details}',
         ${KEEPING_ACCOUNT("e->'details'", "CAST(e->>'amount_cents' AS bigint)")})
         || CASE WHEN :by = 'statement' AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
           THEN jsonb_build_object('told_by', CAST(:by AS text)) ELSE '{}' END ORDER BY place)
         FROM jsonb_array_elements(evidence) WITH ORDINALITY AS found (e, place))
     WHERE kind = 'unknown_movement' AND gateway = :gateway AND trans_id = :name
       AND details->>'kind' = :kind AND resolved_at IS NULL`,
    { ...line, fits: JSON.stringify(fits), gateway, by, name: trans_id ?? reference },
  );
}

/**
 * Tells whether a known finding and a line are about the same money. Statements of one gateway write a line in different
 * forms: with the phone, with some of its digits, or without it, and by another clock. A receipt stands for one
 * transaction. Without one, each time may be another movement.
 */
function isSameMoney({ amount_cents, details }: Finding, line: UnknownLine): boolean {
  const { kind, reference, account, completed_at } = details as unknown as KnownLine;
  const isSameTime = completed_at === line.completed_at.toISOString();
  return (
    amount_cents === line.amount_cents &&
    kind === line.kind &&
    reference === line.reference &&
    (account === null || line.account === null || isSameAccount(account, line.account)) &&
    (line.trans_id !== null || isSameTime)
  );
}

/** The details of a finding about a line. */
interface KnownLine extends Pick<UnknownLine, 'kind' | 'reference' | 'account'> {
  /** ISO 8601. */
  completed_at: string;
}

/** SQL: the details of the same money, with the account of the line if that shows more of it. */
const KEEPING_ACCOUNT = (details: string, amount_cents: string) => {
  const account = `${details}->>'account'`;
  return `CASE WHEN ${amount_cents} = :amount_cents AND position('*' IN :account) = 0
      AND (${account} IS NULL OR ${account} LIKE '%*%' AND ${sameAccount(account, ':account')})
    THEN jsonb_set(${details}, '{account}', to_jsonb(CAST(:account AS text))) ELSE ${details} END`;
};

/**
 * Puts the money of a line without a reference on the support list, because it belongs to no payment any more. Does
 * nothing if no statement has such a line.
 */
export async function openListed(
  trx: Transaction,
  gateway: string,
  kind: GatewayPaymentKind,
  receipt: string,
): Promise<void> {
  const line = await firstRow<UnknownLine & { by: Teller }>(
    trx,
    `SELECT l.*, CASE WHEN ${IS_GIVEN} THEN 'statement' ELSE 'file' END AS by
     FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND l.trans_id = :receipt AND l.kind = :kind
       AND l.reference IS NULL AND NOT l.undecided
     ORDER BY i.id DESC LIMIT 1`,
    { gateway, receipt, kind },
  );
  if (line) await openUnknown(trx, { gateway, by: line.by }, line);
}

/** SQL: evidence `e` names a reference of the payment, or has only the receipt. */
const IS_THIS_MOVEMENT = `CASE WHEN e->'details'->>'reference' IS NOT NULL
  THEN e->'details'->>'reference' = ANY (:references)
  ELSE trans_id = :trans_id AND ${isThisDirection("coalesce(payment_kind, e->'details'->>'kind')")} END`;

/** SQL: evidence `e` names the amount, or one of the two names none. */
const SAME_AMOUNT = `coalesce(CAST(e->>'amount_cents' AS bigint) = :amount_cents, true)`;

/**
 * Tells whether a callback has told of this movement, with its amount, and named its merchant. It names the same
 * reference. A line without one has the same receipt.
 */
export function isOfUnknownPayment(
  trx: Transaction,
  movement: ToldMovement & Pick<UnknownLine, 'kind' | 'account'>,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies, jsonb_array_elements(evidence) AS e
     WHERE kind = 'unknown_payment' AND gateway = :gateway
       AND e->'details'->>'outcome' = 'succeeded'
       AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
       AND (details->>'reference' = :reference
           -- Of a callback without a receipt, each receipt of a statement is a question.
           AND (CAST(:trans_id AS text) IS NULL OR trans_id = :trans_id)
         OR CAST(:reference AS text) IS NULL AND trans_id = :trans_id
           AND (payment_kind = 'collection') = (CAST(:kind AS text) = 'collection')
           AND coalesce(${sameAccount("e->'details'->>'account'", ':account')}, true))`,
    movement,
  );
}
