import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind, QueryResult, Verdict } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { settle } from '../settlement/settle.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { callEndOf } from '../submission/attempts.ts';
import { type Question, questionAbout } from '../submission/polling.ts';
import { SUPPORT_RESULT_CODE } from '../support/resolution.ts';

/** A statement that lists every movement of these payments from `start` until `end`. */
export interface CompleteStatement {
  importId: string;
  gateway: string;
  channel: number;
  kinds: readonly GatewayPaymentKind[];
  start: Date;
  end: Date;
  settlingWindowMs: number;
  ask: (payment: AnyPayment) => Promise<QueryResult>;
}

/** What became of overdue payments that a statement does not list. */
export interface RuledOut {
  /** The gateway had no other answer: they have failed, since they are not in the statement. */
  failed: PaymentRef[];
  /** They have ended by what the gateway answered. */
  answered: PaymentRef[];
}

/**
 * A payment is ruled out when the statement covers its whole life until well after its
 * deadline, and has no line about it. The gateway is asked before it fails: what it calls
 * pending, or does not answer to, is left alone. A later success is late news like any other.
 */
export async function failRuledOut(
  database: Database,
  statement: CompleteStatement,
): Promise<RuledOut> {
  const failed: PaymentRef[] = [];
  const answered: PaymentRef[] = [];
  for (const kind of statement.kinds) {
    for (const ref of await findRuledOut(database, kind, statement)) {
      const question = await questionAbout(database, ref);
      if (!question) continue;
      const answer = await statement.ask(question.payment);
      // A gateway that cannot be asked now can be asked tomorrow.
      if (answer.outcome === 'pending' || answer.outcome === 'noAnswer') continue;
      if (answer.outcome === 'succeeded' || answer.outcome === 'failed') {
        const settlement = await applyAnswer(database, question, answer);
        if (settlement !== 'repeat') answered.push(ref);
      } else if (await failByStatement(database, statement, question.payment)) {
        failed.push(ref);
      }
    }
  }
  return { failed, answered };
}

/**
 * Every condition has an index of its own, and OFFSET 0 has it used row by row: joined at
 * once, a fresh import would be read whole for each payment.
 */
async function findRuledOut(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  { importId, gateway, channel, start, end, settlingWindowMs }: CompleteStatement,
  only?: PaymentRef,
): Promise<PaymentRef[]> {
  const found = await rows<Omit<PaymentRef, 'kind'>>(
    database,
    `WITH unexplained AS MATERIALIZED (
       SELECT DISTINCT amount_cents FROM statement_lines
       WHERE import_id = :import_id AND result = 'unknown'
     )
     SELECT p.merchant_id, p.id FROM ${STEP_TABLES[kind].table} p
     WHERE p.status IN ('pending', 'processing') AND p.gateway = :gateway AND p.channel = :channel
       AND p.created_at >= :start ${only ? 'AND p.merchant_id = :merchant_id AND p.id = :id' : ''}
       AND p.deadline_at + :settling_ms * interval '1 millisecond' < :end
       -- What is still to be sent, or was on its way a moment ago, cannot be listed yet.
       AND p.next_step IS DISTINCT FROM 'submit'
       AND NOT EXISTS (SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id
         AND a.payment_kind = :kind AND a.payment_id = p.id
         AND ${callEndOf('a')} + :settling_ms * interval '1 millisecond' >= :end)
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id)
       AND NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id
         AND l.reference = CAST(p.id AS text) OFFSET 0)
       AND NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id
         AND l.reference = p.external_ref OFFSET 0)
       -- A line that nothing explains may be this one's.
       AND p.amount_cents NOT IN (SELECT amount_cents FROM unexplained)`,
    {
      ...{ import_id: importId, gateway, channel, kind, start, end },
      ...{
        settling_ms: settlingWindowMs,
        merchant_id: only?.merchant_id ?? null,
        id: only?.id ?? null,
      },
    },
  );
  return found.map((row) => ({ ...row, kind }));
}

async function applyAnswer(
  database: Database,
  { payment: { kind, merchant_id: merchantId, id }, askedAt }: Question,
  answer: Verdict,
): Promise<Settlement> {
  return inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, { kind, merchant_id: merchantId, id });
    if (!payment) throw new Error(`${kind} ${id} is gone`);
    return settle(trx, payment, answer, 'poll', askedAt);
  });
}

/** @returns false when it has moved on since it was asked about, or since it was found. */
async function failByStatement(
  database: Database,
  statement: CompleteStatement,
  asked: AnyPayment,
): Promise<boolean> {
  return inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, refOf(asked));
    if (payment?.step_no !== asked.step_no) return false;
    // While others were asked about it may have been sent again, or have learned of money.
    const found = await findRuledOut(trx, asked.kind, statement, refOf(asked));
    if (found.length === 0) return false;
    const settlement = await settle(
      trx,
      payment,
      {
        outcome: 'failed',
        code: SUPPORT_RESULT_CODE,
        description: 'Not in the statement of the gateway',
        externalRef: null,
      },
      'statement',
    );
    return settlement === 'failed';
  });
}
