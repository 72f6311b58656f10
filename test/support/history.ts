import { type Database, rows } from '../../src/connections/database.ts';
import { Refusal } from '../../src/domain/errors.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { claimSubmission } from '../../src/domain/submission/claim-submission.ts';
import { findPaymentToPoll, recordQuery } from '../../src/domain/submission/polling.ts';
import { recordSubmission } from '../../src/domain/submission/record-submission.ts';
import { GatewayWorld } from './gateway-world.ts';
import { newPayout, reversalRequest } from './payment-kinds.ts';
import { learn, newCollection, parserOf, reread } from './payments.ts';
import { POLL_FIRST_MS, RECORDING } from './submissions.ts';

/** What can happen in a history; `who` picks the payment, by place, out of those that there are. */
export type Happening =
  | { what: 'initiate'; kind: 'collection' | 'payout' | 'reversal'; who: number }
  /** A worker takes the job of a step: the one that is due, or one that was done before. */
  | { what: 'job'; who: number; stale: boolean; call: Call; crash: Crash }
  /** Two workers take the same job at once. */
  | { what: 'two jobs'; who: number; call: Call }
  | { what: 'success'; who: number; again: boolean; amount: boolean }
  | { what: 'failure'; who: number }
  /** The newest verdict comes as a callback, perhaps once more. */
  | { what: 'callback'; who: number };

/** What becomes of one call to the gateway. */
export const CALLS = ['answered', 'not taken', 'answer lost', 'never arrived'] as const;
export type Call = (typeof CALLS)[number];

/** Where a worker dies. */
export const CRASHES = ['nowhere', 'before the call', 'before the record'] as const;
export type Crash = (typeof CRASHES)[number];

/** Rounds after which whatever still has a step has it for ever. */
const MAX_ROUNDS = 10;

/** One merchant's payments, the gateway's truth about them, and everything that happens to them. */
export class History {
  readonly payments: AnyPayment[] = [];
  readonly world: GatewayWorld;
  readonly #database: Database;
  readonly #merchant: { merchant_id: number; app_code: number };
  readonly #resubmit: 'safe' | 'never';

  constructor(
    database: Database,
    merchant: { merchant_id: number; app_code: number },
    resubmit: 'safe' | 'never',
  ) {
    this.#database = database;
    this.#merchant = merchant;
    this.#resubmit = resubmit;
    this.world = new GatewayWorld(merchant.merchant_id);
  }

  async happen(happening: Happening): Promise<void> {
    if (happening.what === 'initiate') return this.#initiate(happening);
    const payment = this.#pick(happening.who);
    if (!payment) return;
    switch (happening.what) {
      case 'job':
        return this.#job(payment, happening);
      case 'two jobs': {
        const job = { ...happening, stale: false, crash: 'nowhere' as const };
        await Promise.all([this.#job(payment, job), this.#job(payment, job)]);
        return;
      }
      case 'success':
        return this.world.succeed(payment, happening);
      case 'failure':
        return this.world.fail(payment);
      case 'callback':
        return this.#callback(payment);
    }
  }

  /** Everything that is due is done, nothing crashes, and the gateway ends and tells what it has. */
  async settleDown(): Promise<void> {
    let active = this.payments;
    for (let round = 0; round < MAX_ROUNDS && active.length > 0; round += 1) {
      for (const payment of active) {
        await this.#job(payment, { stale: false, call: 'answered', crash: 'nowhere' });
        if (this.world.verdictOf(payment) === null) this.world.succeed(payment);
        await this.#callback(payment);
      }
      const adopted = await this.#adoptReturns();
      const now = await Promise.all(active.map((payment) => reread(this.#database, payment)));
      active = [...adopted, ...now.filter(({ next_step }) => next_step !== null)];
    }
  }

  #pick(who: number): AnyPayment | undefined {
    return this.payments[who % Math.max(1, this.payments.length)];
  }

  async #initiate({ kind, who }: Extract<Happening, { what: 'initiate' }>): Promise<void> {
    const database = this.#database;
    if (kind === 'collection') {
      this.payments.push(await newCollection(database, this.#merchant));
    } else if (kind === 'payout') {
      this.payments.push(await newPayout(database, this.#merchant));
    } else {
      const collections = this.payments.filter((payment) => payment.kind === 'collection');
      const collection = collections[who % Math.max(1, collections.length)];
      if (!collection) return;
      const reversal = await createReversal(database, reversalRequest(collection)).catch(ignore);
      if (reversal) this.payments.push(reversal);
    }
  }

  /** What a worker does for the step that the payment has. */
  async #job(payment: AnyPayment, job: { stale: boolean; call: Call; crash: Crash }) {
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

  async #submit(
    payment: AnyPayment,
    stepNo: number,
    { call, crash }: { call: Call; crash: Crash },
  ) {
    const options = { pollFirstMs: POLL_FIRST_MS };
    const claim = await claimSubmission(this.#database, refOf(payment), stepNo, options);
    if (!claim || crash === 'before the call') return;
    const arrives = call === 'answered' || call === 'answer lost';
    const taken = arrives ? this.world.take(payment) : null;
    if (crash === 'before the record') return;
    await recordSubmission(
      this.#database,
      claim,
      call === 'answered'
        ? taken!
        : { outcome: call === 'not taken' ? 'notTaken' : 'unknown', reason: call },
      RECORDING,
    );
  }

  async #poll(payment: AnyPayment, stepNo: number, { call, crash }: { call: Call; crash: Crash }) {
    const asked = await findPaymentToPoll(this.#database, refOf(payment), stepNo);
    if (!asked || crash !== 'nowhere') return;
    await this.#letTimePass(payment);
    const result =
      call === 'answered'
        ? this.world.query(payment)
        : ({ outcome: 'noAnswer', reason: call } as const);
    const rule = { resubmit: this.#resubmit, settlingWindowMs: 0, answerWindowMs: 0 };
    await recordQuery(this.#database, asked, result, rule, RECORDING);
  }

  /** Between a submission and a question about it is the longest time that a call can take. */
  async #letTimePass({ merchant_id, id }: AnyPayment): Promise<void> {
    await rows(
      this.#database,
      `UPDATE attempts SET started_at = started_at - interval '1 minute',
         answered_at = answered_at - interval '1 minute'
       WHERE merchant_id = :merchant_id AND payment_id = :id`,
      { merchant_id, id },
    );
  }

  async #callback(payment: AnyPayment): Promise<void> {
    const verdict = this.world.verdictOf(payment);
    if (verdict) await learn(this.#database, payment, verdict);
  }

  /** Returns are made by the service itself. */
  async #adoptReturns(): Promise<AnyPayment[]> {
    const found = await rows<AnyPayment>(
      this.#database,
      'SELECT * FROM returns WHERE merchant_id = :merchant_id AND id <> ALL (:known)',
      {
        merchant_id: this.#merchant.merchant_id,
        known: this.payments.map(({ id }) => id),
      },
    );
    const adopted = found.map((row) => ({ ...row, kind: 'return' }) as AnyPayment);
    this.payments.push(...adopted);
    return adopted;
  }
}

function ignore(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}
