import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type {
  Failed,
  GatewayPaymentKind,
  ParserOf,
  QueryResult,
  Verdict,
} from '../gateway-results.ts';
import {
  type AnyPayment,
  type PaymentRef,
  refOf,
  withPaymentLocked,
} from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import type { Callback } from '../settlement/callback-store.ts';
import { contentOf } from '../settlement/drain-callbacks.ts';
import { isSameDirection } from '../settlement/receipts.ts';
import { type Settlement, settle } from '../settlement/settle.ts';
import { HAS_UNSURE_RECEIPT } from '../settlement/sources.ts';
import { callEndOf } from '../submission/attempts.ts';
import { type Question, questionAbout } from '../submission/polling.ts';
import { LONGEST, PAID_WITHIN } from './candidates.ts';
import { latestMoment } from './days-alone.ts';
import type { Spend } from './match-line.ts';
import type { StatementScope } from './statement.ts';

/** A statement that lists every movement of its scope. */
export interface CompleteStatement extends StatementScope {
  settling_window_ms: number;
  answer_window_ms: number;
  ask: (payment: AnyPayment) => Promise<QueryResult>;
  /** Reads the stored callbacks of a payment, which are applied before it fails. */
  parserOf: ParserOf;
  /** Counts the money of the payments that it fails. */
  spend?: Spend;
}

/** The overdue payments that are not in a statement and have ended. */
export interface RuledOut {
  /** Payments that the statement has failed, because the gateway answered that it lacks them. */
  ruledOut: PaymentRef[];
  /** Payments that a definite answer of the gateway has ended. */
  answered: PaymentRef[];
}

/**
 * Fails the payments that a statement rules out: it covers their whole life until well after
 * their deadline, and has no line about them. Its source must have proven itself by lines of known
 * payments from before and after: an empty statement proves nothing. This asks the gateway about
 * each payment first, and waits for an answer that comes as a callback. The payment fails only if
 * the gateway answers that it does not know it: silence proves nothing. A later success is late
 * news like any other.
 * @throws the reason of `stopping`, between two payments
 */
export async function failRuledOut(
  database: Database,
  statement: CompleteStatement,
  stopping?: AbortSignal,
): Promise<RuledOut> {
  const ruledOut: PaymentRef[] = [];
  const answered: PaymentRef[] = [];
  const awaited: Question[] = [];
  for (const kind of statement.kinds) {
    for (const ref of await findRuledOut(database, kind, statement)) {
      stopping?.throwIfAborted();
      const question = await questionAbout(database, ref);
      if (!question) continue;
      const answer = await statement.ask(question.payment);
      if (answer.outcome === 'pending' || answer.outcome === 'noAnswer') continue;
      if (answer.outcome === 'succeeded' || answer.outcome === 'failed') {
        const settlement = await applyAnswer(database, statement, question, answer);
        if (settlement !== 'repeat') answered.push(ref);
      } else if (answer.outcome === 'asked') {
        awaited.push(question);
      } else if (await failByStatement(database, statement, question)) {
        ruledOut.push(ref);
      }
    }
  }
  return {
    ruledOut: [...ruledOut, ...(await failUnknown(database, statement, awaited, stopping))],
    answered,
  };
}

/** Waits for the callbacks that answer these questions, and fails what they call not found. */
async function failUnknown(
  database: Database,
  statement: CompleteStatement,
  awaited: Question[],
  stopping?: AbortSignal,
): Promise<PaymentRef[]> {
  const failed: PaymentRef[] = [];
  if (awaited.length > 0) await sleep(statement.answer_window_ms, undefined, { signal: stopping });
  for (const question of awaited) {
    stopping?.throwIfAborted();
    const answers = await answersTo(database, question);
    const isUnknown = answers.every(
      (each) => contentOf(each, statement.parserOf).content?.verdict.outcome === 'notFound',
    );
    if (answers.length === 0 || !isUnknown) continue;
    const heard = { ...question, answers: answers.map(({ id }) => id) };
    if (await failByStatement(database, statement, heard)) failed.push(refOf(question.payment));
  }
  return failed;
}

/** Reads the callbacks of a payment that came after a question about it. */
function answersTo(database: Database, { payment, askedAt }: Question): Promise<Callback[]> {
  return rows<Callback>(
    database,
    `SELECT * FROM callbacks
     WHERE merchant_id = :merchant_id AND payment_id = :id AND payment_kind = :kind
       AND received_at >= :asked_at`,
    { ...refOf(payment), asked_at: askedAt },
  );
}

/** A question, with the callbacks that have answered it. */
type Heard = Question & { answers?: string[] };

/**
 * SQL: a line's account may be the payment's. Gateways do not hide the last digits. A line without an account, or with
 * more than digits, as a bank writes a name behind them, may be anybody's.
 */
export function mayBeAccount(line: string, own: string): string {
  const tailOf = (account: string) =>
    `right(regexp_replace(${account}, '[^0-9]', '', 'g'), ${TAIL_LENGTH})`;
  return `(${line} IS NULL OR ${line} !~ '^[+0-9* -]+$' OR ${tailOf(line)} = ${tailOf(own)})`;
}

const TAIL_LENGTH = 3;

/** SQL: a customer has paid the prompt of a collection `p` by then. */
const LATEST_OF_PROMPT = `greatest(p.created_at, p.deadline_at)
           + :before_minutes * interval '1 minute' + :settling_window_ms * interval '1 millisecond'`;

/**
 * Finds the payments that a statement rules out. Each condition has its own index. OFFSET 0 makes
 * the planner use it row by row. Otherwise it would read a fresh import whole for each payment.
 */
export async function findRuledOut(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  statement: StatementScope & Pick<CompleteStatement, 'settling_window_ms'>,
  asked?: Heard,
): Promise<PaymentRef[]> {
  const found = await rows<Omit<PaymentRef, 'kind'>>(
    database,
    `WITH unexplained AS MATERIALIZED (
       SELECT amount_cents, account, completed_at FROM statement_lines l
       WHERE import_id = :import_id AND ${isSameDirection('kind', ':line_kind')}
         AND (undecided OR result IN ('unknown', 'contradicts')
           -- Only people, or its likeness, have said whose it is.
           OR result = 'matched' AND reference IS NULL AND (
             EXISTS (SELECT FROM movements m WHERE m.gateway = :gateway
               AND m.trans_id = l.trans_id AND m.booked <> 'undone' AND ${HAS_UNSURE_RECEIPT})
             OR EXISTS (SELECT FROM adoptions a WHERE a.gateway = :gateway
               AND a.receipt = l.trans_id AND a.taken_back_at IS NULL)))
       -- Another statement may have listed it, and the gateway has not told whose it is.
       UNION ALL SELECT CAST(e->>'amount_cents' AS bigint), e->'details'->>'account',
         CAST(e->'details'->>'completed_at' AS timestamptz)
       FROM discrepancies d, jsonb_array_elements(evidence) AS e
       WHERE kind = 'unknown_movement' AND gateway = :gateway
         AND ${isSameDirection("e->'details'->>'kind'", ':line_kind')}
         AND NOT EXISTS (SELECT FROM movements m WHERE m.gateway = :gateway
           AND m.trans_id = d.trans_id AND m.booked <> 'undone' AND NOT ${HAS_UNSURE_RECEIPT})
     ), proven AS MATERIALIZED (
       -- Lines of known payments of the same kind. Before the comparison all lines may be such.
       SELECT min(completed_at) AS since, max(completed_at) AS until FROM statement_lines
       WHERE import_id = :import_id AND kind = :line_kind AND completed_at < :end
         AND NOT undecided AND (result IS NULL OR result IN ('matched', 'settled'))
     )
     SELECT p.merchant_id, p.id FROM ${STEP_TABLES[kind].table} p
     WHERE p.status IN ('pending', 'processing') AND p.gateway = :gateway AND p.channel = :channel
       AND p.created_at >= :start AND p.created_at > (SELECT since FROM proven)
       AND p.deadline_at < (SELECT until FROM proven)
       ${asked ? 'AND p.merchant_id = :merchant_id AND p.id = :id' : ''}
       AND p.deadline_at + :settling_window_ms * interval '1 millisecond' < :end
       -- A payment that is not sent yet, or was sent a moment ago, cannot be listed yet.
       AND p.next_step IS DISTINCT FROM 'submit'
       AND NOT EXISTS (SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id
         AND a.payment_kind = :kind AND a.payment_id = p.id
         AND ${callEndOf('a')} + :settling_window_ms * interval '1 millisecond' >= :end)
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked <> 'undone')
       -- News that nobody has read yet, or that is no answer to the question.
       AND NOT EXISTS (SELECT FROM callbacks c WHERE c.merchant_id = p.merchant_id
         AND c.payment_kind = :kind AND c.payment_id = p.id
         AND (c.status = 'stored' OR c.received_at >= CAST(:asked_at AS timestamptz)
           AND c.id <> ALL (CAST(:answers AS uuid[]))))
       AND NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id
         AND l.reference = CAST(p.reference AS text) OFFSET 0)
       AND NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id
         AND l.reference = p.external_ref OFFSET 0)
       -- A line that is not booked may belong to this one, by amount, time and the phone's tail. A payout moves late.
       AND NOT EXISTS (SELECT FROM unexplained u WHERE u.amount_cents = p.amount_cents
         AND ${latestMoment('u.completed_at')} > p.created_at - :after_minutes * interval '1 minute'
         AND u.completed_at < ${kind === 'collection' ? LATEST_OF_PROMPT : `p.created_at + interval '${LONGEST}'`}
         AND ${mayBeAccount('u.account', `p.${ACCOUNT_COLUMNS[kind]}`)})
       -- Somebody must say first whose its receipt is.
       AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
         AND d.payment_kind = :kind AND d.payment_id = p.id
         AND d.kind = 'receipt_of_another' AND d.resolved_at IS NULL)`,
    {
      ...statement,
      ...PAID_WITHIN,
      ...(asked && refOf(asked.payment)),
      kind,
      line_kind: kind === 'return' ? 'reversal' : kind,
      asked_at: asked?.askedAt ?? null,
      answers: asked?.answers ?? [],
    },
  );
  return found.map((row) => ({ ...row, kind }));
}

async function applyAnswer(
  database: Database,
  { parserOf }: CompleteStatement,
  { payment: asked, askedAt }: Question,
  answer: Verdict,
): Promise<Settlement> {
  return withPaymentLocked(database, refOf(asked), async (trx, payment) => {
    if (!payment) throw new Error(`${asked.kind} ${asked.id} is gone`);
    return settle(trx, payment, answer, { cause: 'poll', heardAt: askedAt, parserOf });
  });
}

/** Fails a payment. @returns false when it has changed since it was found or asked about. */
async function failByStatement(
  database: Database,
  statement: CompleteStatement,
  question: Heard,
): Promise<boolean> {
  const asked = question.payment;
  return withPaymentLocked(database, refOf(asked), async (trx, payment) => {
    if (payment?.step_no !== asked.step_no) return false;
    // Checks again: meanwhile it may have been sent again, or a movement may have become known.
    const found = await findRuledOut(trx, asked.kind, statement, question);
    if (found.length === 0) return false;
    const source = { cause: 'statement', parserOf: statement.parserOf };
    const hasFailed = (await settle(trx, payment, RULED_OUT, source)) === 'failed';
    if (hasFailed) statement.spend?.(`${payment.kind} ${payment.id}`, payment.amount_cents);
    return hasFailed;
  });
}

/** The verdict about a payment that a statement rules out. No gateway uses its code. */
const RULED_OUT: Failed = {
  outcome: 'failed',
  code: 90_010,
  description: 'The network has no record of this payment',
  externalRef: null,
};
