import type { Database } from '../../src/connections/database.ts';
import type { SubmitResult } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import {
  claimSubmission,
  type SubmissionClaim,
} from '../../src/domain/submission/claim-submission.ts';
import { findPaymentToPoll, recordQuery } from '../../src/domain/submission/polling.ts';
import { type NotCalled, recordSubmission } from '../../src/domain/submission/record-submission.ts';
import { rewrite } from './database.ts';
import { type Call, type HistoryGateway, storeTold, UNKNOWN } from './history-gateway.ts';
import { reread } from './payments.ts';
import { POLL_FIRST_MS } from './submissions.ts';

/** Where a worker dies. */
export const CRASHES = ['nowhere', 'before the call', 'before the record'] as const;
export type Crash = (typeof CRASHES)[number];

/** Where a worker stops for a while. */
export const FREEZES = ['before the call', 'in the call'] as const;
export type Freeze = (typeof FREEZES)[number];

interface Frozen {
  claim: SubmissionClaim;
  /** The answer of a call that was under way. Null: it stopped before the call. */
  answer: SubmitResult | null;
  /** The time of the history at the claim. */
  since: number;
}

/** What the workers of a history do with the step that a payment has. */
export class HistoryWorkers {
  readonly #database: Database;
  readonly #gateway: HistoryGateway;
  readonly #frozen: Frozen[] = [];
  #minutes = 0;

  constructor(database: Database, gateway: HistoryGateway) {
    this.#database = database;
    this.#gateway = gateway;
  }

  get #recording() {
    return { pollFirstMs: POLL_FIRST_MS, parserOf: this.#gateway.parserOf };
  }

  async run(payment: AnyPayment, job: { stale: boolean; call: Call; crash: Crash }): Promise<void> {
    const now = await reread(this.#database, payment);
    const stepNo = now.step_no - (job.stale ? 1 : 0);
    if (now.next_step === 'refund') {
      await refundPayout(this.#database, refOf(payment), stepNo, this.#gateway);
    } else if (now.next_step === 'submit') {
      await this.#submit(now, stepNo, job);
    } else if (now.next_step === 'poll') {
      await this.#poll(now, stepNo, job);
    }
  }

  /** Claims the call, and stops before it, or after the request has left. */
  async freeze(payment: AnyPayment, at: Freeze): Promise<void> {
    const { step_no } = await reread(this.#database, payment);
    const claim = await this.#claim(payment, step_no);
    if (!claim) return;
    const isCalling = at === 'in the call';
    const answer = isCalling ? await this.#gateway.submit(claim.payment, 'answered') : null;
    this.#frozen.push({ claim, answer, since: this.#minutes });
  }

  /** Lets one go on. It does not call with an old claim. */
  async thaw(who: number, call: Call): Promise<void> {
    const [frozen] = this.#frozen.splice(who % Math.max(1, this.#frozen.length), 1);
    if (!frozen) return;
    const { claim, answer, since } = frozen;
    if (answer) {
      // The gateway has it. The answer tells so, or is lost.
      await this.#record(claim, call === 'answered' ? answer : UNKNOWN);
    } else if (since === this.#minutes) {
      await this.#call(claim, call, 'nowhere');
    } else {
      const tooOld = { outcome: 'notCalled', reason: 'too old' } as const;
      await this.#record(claim, tooOld);
    }
  }

  async thawAll(): Promise<void> {
    while (this.#frozen.length > 0) await this.thaw(0, 'answered');
  }

  #claim(payment: AnyPayment, stepNo: number): Promise<SubmissionClaim | null> {
    return claimSubmission(this.#database, refOf(payment), stepNo, {
      pollFirstMs: POLL_FIRST_MS,
      gateways: ['simulator'],
    });
  }

  async #submit(
    payment: AnyPayment,
    stepNo: number,
    { call, crash }: { call: Call; crash: Crash },
  ): Promise<void> {
    const claim = await this.#claim(payment, stepNo);
    if (claim && crash !== 'before the call') await this.#call(claim, call, crash);
  }

  async #call(claim: SubmissionClaim, call: Call, crash: Crash) {
    const result = await this.#gateway.submit(claim.payment, call);
    if (crash !== 'before the record') await this.#record(claim, result);
  }

  #record(claim: SubmissionClaim, result: SubmitResult | NotCalled): Promise<void> {
    return recordSubmission(this.#database, claim, result, this.#recording);
  }

  async #poll(payment: AnyPayment, stepNo: number, { call, crash }: { call: Call; crash: Crash }) {
    const asked = await findPaymentToPoll(this.#database, refOf(payment), stepNo);
    if (!asked || crash !== 'nowhere') return;
    await this.#letTimePass(payment);
    const { result, answers } = await this.#gateway.query(asked, call);
    const { resubmit } = this.#gateway;
    const rule = { resubmit: resubmit(payment.kind), settlingWindowMs: 0, answerWindowMs: 0 };
    await recordQuery(this.#database, asked, result, rule, this.#recording);
    await storeTold(this.#database, payment, answers);
  }

  /** Between a submission and a question about it is the longest time that a call can take. */
  async #letTimePass({ merchant_id, id }: AnyPayment): Promise<void> {
    this.#minutes += 1;
    await rewrite(
      this.#database,
      `UPDATE attempts SET started_at = started_at - interval '1 minute',
         answered_at = answered_at - interval '1 minute'
       WHERE merchant_id = :merchant_id AND payment_id = :id`,
      { merchant_id, id },
    );
  }
}
