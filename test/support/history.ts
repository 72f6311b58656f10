import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { NOBODY } from '../../src/domain/access/asker.ts';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import { Refusal } from '../../src/domain/errors.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import { transfer } from '../../src/domain/wallets/transfer.ts';
import { rewrite } from './database.ts';
import { GatewayWorld, type Whose } from './gateway-world.ts';
import { createDarajaHistoryGateway } from './history-daraja.ts';
import {
  type Call,
  createPlayedGateway,
  type HistoryGateway,
  storeTold,
} from './history-gateway.ts';
import { compareForm } from './history-statements.ts';
import { completeByHand, decideOne, doubt } from './history-support.ts';
import { type Crash, type Freeze, HistoryWorkers } from './history-workers.ts';
import { newPayout, reversalRequest } from './payment-kinds.ts';
import { newCollection, PAYER, reread } from './payments.ts';

/** What can happen in a history; `who` picks the payment, by place, out of those that there are. */
export type Happening =
  | { what: 'initiate'; kind: 'collection' | 'payout' | 'reversal'; who: number }
  /** A worker takes the job of a step: the one that is due, or one that was done before. */
  | { what: 'job'; who: number; stale: boolean; call: Call; crash: Crash }
  /** Two workers take the same job at once. */
  | { what: 'two jobs'; who: number; call: Call }
  /** A worker stops for a while. Others go on. */
  | { what: 'freeze'; who: number; at: Freeze }
  | { what: 'thaw'; who: number; call: Call }
  | { what: 'success'; who: number; again: boolean; amount: boolean; parts: boolean }
  | { what: 'failure'; who: number }
  /** The gateway tells of a success with the receipt of another payment. */
  | { what: 'shared receipt'; who: number }
  /** The newest verdict comes as a callback, perhaps once more. Its job may come much later. */
  | { what: 'callback'; who: number; isReadable: boolean }
  | { what: 'callback job'; who: number }
  | { what: 'deadline'; who: number }
  /** The merchant moves all that it has collected to its payout wallet. A reversal then makes debt. */
  | { what: 'transfer'; who: number }
  /** Support decides about something, by a word that the list offers. */
  | { what: 'decision'; who: number; word: number }
  /** Support completes an overdue payment with a receipt from some row of a portal. */
  | { what: 'hand completion'; who: number; receipt: Whose }
  | { what: 'doubt'; who: number }
  /** A statement comes in the middle, by a file or from the gateway. */
  | ({ what: 'statement'; who: number } & Parameters<typeof compareForm>[2]);

/** How a history's gateway behaves throughout. */
export interface Nature {
  /** What stands between the domain and the gateway. Daraja's driver has rules of its own. */
  driver: 'played' | 'daraja';
  resubmit: 'safe' | 'never';
  /** All payments have the same reference of the gateway. */
  sharesReferences: boolean;
}

/** Customers of a history. Where digits are hidden, the first two look the same. */
const PHONES = [PAYER, '+254722345678', '+254712345999'] as const;

/** Rounds after which whatever still has a step has it for ever. */
const MAX_ROUNDS = 8;

/** The payments of one history that are overdue at once. */
const OVERDUE_BATCH = 20;

/** One merchant's payments, the gateway's truth about them, and everything that happens to them. */
export class History {
  readonly payments: AnyPayment[] = [];
  readonly world: GatewayWorld;
  readonly gateway: HistoryGateway;
  readonly #database: Database;
  readonly #merchant: { merchant_id: number; app_code: number };
  readonly #workers: HistoryWorkers;
  #transfers = 0;

  constructor(
    database: Database,
    merchant: { merchant_id: number; app_code: number },
    nature: Nature,
  ) {
    this.#database = database;
    this.#merchant = merchant;
    this.world = new GatewayWorld(merchant.merchant_id);
    this.gateway =
      nature.driver === 'daraja'
        ? createDarajaHistoryGateway(this.world)
        : createPlayedGateway(this.world, nature);
    this.#workers = new HistoryWorkers(database, this.gateway);
  }

  async happen(happening: Happening): Promise<void> {
    if (happening.what === 'initiate') return this.#initiate(happening);
    if (happening.what === 'transfer') return this.#transfer();
    const payment = this.#pick(happening.who);
    if (!payment) return;
    switch (happening.what) {
      case 'job':
        return this.#workers.run(payment, happening);
      case 'two jobs': {
        const job = { ...happening, stale: false, crash: 'nowhere' as const };
        await Promise.all([this.#workers.run(payment, job), this.#workers.run(payment, job)]);
        return;
      }
      case 'freeze':
        return this.#workers.freeze(payment, happening.at);
      case 'thaw':
        return this.#workers.thaw(happening.who, happening.call);
      case 'success':
        return this.#succeed(payment, happening);
      case 'failure':
        return this.world.fail(payment);
      case 'shared receipt':
        return this.world.shareReceipt(payment);
      case 'callback':
        return this.#store(payment, happening.isReadable);
      case 'callback job':
        return this.#process(happening.who);
      case 'deadline':
        return this.passDeadline(payment);
      case 'decision':
        return decideOne(this.#database, this, this.#merchant, happening);
      case 'hand completion':
        await this.passDeadline(payment);
        return completeByHand(this.#database, this, payment, happening.receipt);
      case 'doubt':
        return doubt(this.#database, payment);
      case 'statement':
        return compareForm(this.#database, this, happening);
    }
  }

  /** Everything that is due is done, nothing crashes, and the gateway ends and tells what it has. */
  async settleDown(): Promise<void> {
    await this.#workers.thawAll();
    let active = [...this.payments, ...(await this.#adoptReturns())];
    for (let round = 0; round < MAX_ROUNDS && active.length > 0; round += 1) {
      for (const payment of active) {
        await this.#workers.run(payment, { stale: false, call: 'answered', crash: 'nowhere' });
        if (this.world.verdictOf(payment) === null) this.world.succeed(payment);
        this.world.payTheRest(payment);
        await this.#store(payment, true);
      }
      while (await this.#processNext(0));
      const adopted = await this.#adoptReturns();
      const now = await Promise.all(active.map((payment) => reread(this.#database, payment)));
      active = [...adopted, ...now.filter((payment) => this.#mayMove(payment))];
    }
  }

  /** Tells whether another round may bring it on. Not if it never arrived and may not go again. */
  #mayMove(payment: AnyPayment): boolean {
    const { kind, next_step } = payment;
    if (next_step !== 'poll' || this.world.has(payment)) return next_step !== null;
    return this.gateway.resubmit(kind) === 'safe';
  }

  #pick(who: number): AnyPayment | undefined {
    return this.payments[who % Math.max(1, this.payments.length)];
  }

  async #initiate({ kind, who }: Extract<Happening, { what: 'initiate' }>): Promise<void> {
    const database = this.#database;
    if (kind === 'collection') {
      this.payments.push(await this.#newCollection(PHONES[who % PHONES.length]!));
    } else if (kind === 'payout') {
      // The cost of the payout comes to the wallet before it.
      const held = await walletBalances(database, this.#merchant.merchant_id);
      const owes = held.collection! < 0 && held.collection! + held.payout! < 0;
      const payout = await newPayout(database, this.#merchant).catch(ignore);
      expect(payout === null, 'refused because the merchant is in debt').to.equal(owes);
      if (payout) this.payments.push(payout);
    } else {
      const collections = this.payments.filter((payment) => payment.kind === 'collection');
      const collection = collections[who % Math.max(1, collections.length)];
      if (!collection) return;
      await this.#reverse(collection);
    }
  }

  /** A collection of the day of the history, on which a line without a reference may find it. */
  async #newCollection(payfrom: string): Promise<Collection> {
    const collection = await newCollection(this.#database, this.#merchant, { payfrom });
    await rewrite(
      this.#database,
      'UPDATE collections SET created_at = :at WHERE merchant_id = :merchant_id AND id = :id',
      { ...collection, at: this.world.completedAt },
    );
    return reread(this.#database, collection);
  }

  async #transfer(): Promise<void> {
    const { merchant_id } = this.#merchant;
    const { collection: amount_cents = 0 } = await walletBalances(this.#database, merchant_id);
    if (amount_cents <= 0) return;
    this.#transfers += 1;
    const request = { merchant_id, amount_cents, ref_no: `t-${this.#transfers}`, ...NOBODY };
    await inTransaction(this.#database, (trx) => transfer(trx, request));
  }

  /** The merchant gives back everything that was collected. */
  async giveBack(): Promise<void> {
    const collections = this.payments.filter((payment) => payment.kind === 'collection');
    for (const collection of collections) await this.#reverse(collection);
    await this.settleDown();
  }

  async #reverse(collection: Collection): Promise<void> {
    const request = reversalRequest(collection);
    const reversal = await createReversal(this.#database, request).catch(ignore);
    if (reversal) this.payments.push(reversal);
  }

  #succeed(payment: AnyPayment, odd: { again: boolean; amount: boolean; parts: boolean }): void {
    const amount = odd.amount && this.gateway.statesAmount(payment.kind);
    this.world.succeed(payment, { ...odd, amount });
  }

  #store(payment: AnyPayment, isReadable: boolean): Promise<void> {
    const told = isReadable ? this.gateway.callbacksOf(payment) : [{ body: 'what is this' }];
    return storeTold(this.#database, payment, told);
  }

  async #process(who: number): Promise<void> {
    await this.#processNext(who);
  }

  /** @returns whether there was one */
  async #processNext(who: number): Promise<boolean> {
    const { merchant_id } = this.#merchant;
    const stored = await rows<{ id: string }>(
      this.#database,
      `SELECT id FROM callbacks WHERE merchant_id = :merchant_id AND status = 'stored' ORDER BY id`,
      { merchant_id },
    );
    const one = stored[who % Math.max(1, stored.length)];
    if (!one) return false;
    const callback = await findStoredCallback(this.#database, merchant_id, one.id);
    await processCallback(this.#database, callback!, this.gateway.parserOf);
    return true;
  }

  async passDeadline({ kind, merchant_id, id }: AnyPayment): Promise<void> {
    await rewrite(
      this.#database,
      `UPDATE ${kind}s SET deadline_at = now() - interval '1 second'
       WHERE merchant_id = :merchant_id AND id = :id`,
      { merchant_id, id },
    );
    await openOverdue(this.#database, OVERDUE_BATCH);
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
