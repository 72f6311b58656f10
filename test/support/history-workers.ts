import { type Database, rows } from '../../src/connections/database.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import {
  claimSubmission,
  type SubmissionClaim,
} from '../../src/domain/submission/claim-submission.ts';
import { findPaymentToPoll, recordQuery } from '../../src/domain/submission/polling.ts';
import { recordSubmission } from '../../src/domain/submission/record-submission.ts';
import type { GatewayWorld } from './gateway-world.ts';
import type { Nature } from './history.ts';
import { parserOf, reread } from './payments.ts';
import { POLL_FIRST_MS, RECORDING } from './submissions.ts';

/** What becomes of one call to the gateway. */
export const CALLS = ['answered', 'declined', 'not taken', 'answer lost', 'never arrived'] as const;
export type Call = (typeof CALLS)[number];

/** Where a worker dies. */
export const CRASHES = ['nowhere', 'before the call', 'before the record'] as const;
export type Crash = (typeof CRASHES)[number];

/** Where a worker stops for a while. */
export const FREEZES = ['before the call', 'in the call'] as const;
export type Freeze = (typeof FREEZES)[number];

interface Frozen {
  payment: AnyPayment;
  claim: SubmissionClaim;
  at: Freeze;
  /** The time of the history at the claim. */
  since: number;
}

/** What the workers of a history do with the step that a payment has. */
export class HistoryWorkers {
  readonly #database: Database;
  readonly #world: GatewayWorld;
  readonly #nature: Nature;
  readonly #frozen: Frozen[] = [];
  #minutes = 0;

  constructor(database: Database, world: GatewayWorld, nature: Nature) {
    this.#database = database;
    this.#world = world;
    this.#nature = nature;
  }

  async run(payment: AnyPayment, job: { stale: boolean; call: Call; crash: Crash }): Promise<void> {
    const now = await reread(this.#database, payment);
    const stepNo = now.step_no - (job.stale ? 1 : 0);
    if (now.next_step === 'refund') {
      await refundPayout(this.#database, refOf(payment), stepNo, { parserOf });
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
    if (at === 'in the call') this.#take(payment);
    this.#frozen.push({ payment, claim, at, since: this.#minutes });
  }

  /** Lets one go on. It does not call with an old claim. */
  async thaw(who: number, call: Call): Promise<void> {
    const [frozen] = this.#frozen.splice(who % Math.max(1, this.#frozen.length), 1);
    if (!frozen) return;
    const { payment, claim, at, since } = frozen;
    if (at === 'in the call') {
      // The gateway has it. The answer tells so, or is lost.
      const result = call === 'answered' ? this.#acknowledgement(payment) : UNKNOWN;
      await recordSubmission(this.#database, claim, result, RECORDING);
    } else if (since === this.#minutes) {
      await this.#call(payment, claim, call, 'nowhere');
    } else {
      const tooOld = { outcome: 'notCalled', reason: 'too old' } as const;
      await recordSubmission(this.#database, claim, tooOld, RECORDING);
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
    if (claim && crash !== 'before the call') await this.#call(payment, claim, call, crash);
  }

  async #call(payment: AnyPayment, claim: SubmissionClaim, call: Call, crash: Crash) {
    const taken = this.#takeBy(payment, call);
    if (crash === 'before the record') return;
    const result =
      taken && call !== 'answer lost'
        ? taken
        : call === 'not taken'
          ? ({ outcome: 'notTaken', reason: call } as const)
          : UNKNOWN;
    await recordSubmission(this.#database, claim, result, RECORDING);
  }

  #takeBy(payment: AnyPayment, call: Call) {
    if (call === 'declined') return this.#world.decline(payment);
    return call === 'answered' || call === 'answer lost' ? this.#take(payment) : null;
  }

  #take(payment: AnyPayment) {
    return this.#world.take(payment, this.#nature.sharesReferences);
  }

  #acknowledgement(payment: AnyPayment) {
    return { outcome: 'acknowledged', externalRef: this.#world.referenceOf(payment) } as const;
  }

  async #poll(payment: AnyPayment, stepNo: number, { call, crash }: { call: Call; crash: Crash }) {
    const asked = await findPaymentToPoll(this.#database, refOf(payment), stepNo);
    if (!asked || crash !== 'nowhere') return;
    await this.#letTimePass(payment);
    const result =
      call === 'answered'
        ? this.#world.query(payment)
        : ({ outcome: 'noAnswer', reason: call } as const);
    const { resubmit } = this.#nature;
    const rule = { resubmit, settlingWindowMs: 0, answerWindowMs: 0 };
    await recordQuery(this.#database, asked, result, rule, RECORDING);
  }

  /** Between a submission and a question about it is the longest time that a call can take. */
  async #letTimePass({ merchant_id, id }: AnyPayment): Promise<void> {
    this.#minutes += 1;
    await rows(
      this.#database,
      `UPDATE attempts SET started_at = started_at - interval '1 minute',
         answered_at = answered_at - interval '1 minute'
       WHERE merchant_id = :merchant_id AND payment_id = :id`,
      { merchant_id, id },
    );
  }
}

const UNKNOWN = { outcome: 'unknown', reason: 'no answer' } as const;
