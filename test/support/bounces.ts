import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import { bookOwnMove } from '../../src/domain/gateway-accounts/own-moves.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { assignRow } from '../../src/domain/support/assign-row.ts';
import { casesOf, type DiscrepancyCase } from '../../src/domain/support/discrepancy-cases.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS } from '../../src/time.ts';
import { refund } from './books.ts';
import { rewrite } from './database.ts';
import { openCases } from './history-support.ts';
import { accountBalance } from './ledger-check.ts';
import { newPayout } from './payment-kinds.ts';
import { failed, parserOf, reread, succeeded } from './payments.ts';
import { runStatement } from './statements.ts';
import { RESOLVING } from './submissions.ts';
import { walletBalance } from './wallet-balance.ts';

/** Where the money of a payout is in truth, whatever anybody has told. */
type Truth = 'not sent' | 'refused' | 'out' | 'back';

interface Sent {
  payout: Payout;
  truth: Truth;
  /** The receipts of its money, and of the row that brings it back. */
  receipt: string;
  row: string;
  out: Date;
  back: Date;
  /** Its money is booked by hand for the merchant. */
  isByHand: boolean;
}

/** How a file writes its rows. */
export interface FileForm {
  names: boolean;
  phones: 'whole' | 'masked' | 'none';
  rows: 'all' | 'out' | 'back';
}

export type Step =
  | { what: 'move' | 'refuse' | 'bounce' | 'hear' | 'refund' | 'answer'; who: number }
  /** The gateway tells what is true now. It may be heard much later. */
  | { what: 'tell'; who: number; hasReceipt: boolean; isLate: boolean }
  | ({ what: 'file'; who: number } & FileForm);

const PHONES = ['+254711000111', '+254722000111'];
const NOW = () => new Date();

/**
 * Payouts of one merchant to few phones, of one amount, some of which come back. What is told of them is true, in whatever
 * order and form, and support answers as the handbook says.
 */
export class Bounces {
  readonly #database: Database;
  readonly #merchant: { merchant_id: number; app_code: number };
  readonly #sent: Sent[] = [];
  readonly #told: { of: Sent; news: Verdict; at: Date }[] = [];

  constructor(database: Database, merchant: { merchant_id: number; app_code: number }) {
    this.#database = database;
    this.#merchant = merchant;
  }

  /** Sends payouts. The amount is of this merchant alone. */
  async send(phones: readonly number[]): Promise<void> {
    const { merchant_id } = this.#merchant;
    for (const [index, phone] of phones.entries()) {
      const payto = PHONES[phone % PHONES.length]!;
      const amount_cents = 10_000 + merchant_id * 100;
      const made = await newPayout(this.#database, this.#merchant, { payto, amount_cents });
      await rewrite(
        this.#database,
        `UPDATE payouts SET created_at = created_at - interval '20 minutes' WHERE id = :id`,
        { id: made.id },
      );
      const name = `M${merchant_id}R${index}`;
      this.#sent.push({
        ...{ payout: await reread(this.#database, made), truth: 'not sent', isByHand: false },
        ...{ receipt: `${name}O`, row: `${name}B`, out: NOW(), back: NOW() },
      });
    }
  }

  async happen(step: Step): Promise<void> {
    const one = this.#sent[step.who % this.#sent.length]!;
    switch (step.what) {
      case 'move':
        if (one.truth === 'not sent') Object.assign(one, { truth: 'out', out: NOW() });
        return;
      case 'refuse':
        if (one.truth === 'not sent') one.truth = 'refused';
        return;
      case 'bounce':
        if (one.truth === 'out') Object.assign(one, { truth: 'back', back: NOW() });
        return;
      case 'tell':
        return this.#tell(one, step);
      case 'hear':
        return this.#hear();
      case 'refund':
        return this.#refund(one);
      case 'answer':
        await this.#answer(await this.#open(), step.who);
        return;
      case 'file':
        return this.#file(step);
    }
  }

  #tell(of: Sent, { hasReceipt, isLate }: { hasReceipt: boolean; isLate: boolean }) {
    if (of.truth === 'not sent') return;
    const { payto: account, amount_cents: amountCents } = of.payout;
    const known = { externalRef: null, account, amountCents, completedAt: of.out };
    const isOut = of.truth === 'out';
    const news = isOut
      ? succeeded({ ...known, transId: hasReceipt ? of.receipt : null })
      : failed({ externalRef: null });
    this.#told.push({ of, news, at: NOW() });
    return isLate ? undefined : this.#hear(-1);
  }

  /** The oldest news is heard, or another one. */
  async #hear(place = 0): Promise<void> {
    const [told] = this.#told.splice(place, 1);
    if (!told) return;
    await inTransaction(this.#database, async (trx) => {
      const locked = await lockPayment(trx, refOf(told.of.payout));
      await settle(trx, locked!, told.news, { cause: 'callback', heardAt: told.at, parserOf });
    });
  }

  async #refund({ payout }: Sent): Promise<void> {
    const now = await reread(this.#database, payout);
    if (now.next_step === 'refund') await refund(this.#database, now);
  }

  async #file({ names, phones, rows: listed }: FileForm): Promise<void> {
    const shown = (phone: string) =>
      ({ whole: phone, masked: phone.replace(/^(\+254\d)\d*(\d{3})$/, '$1*****$2'), none: null })[
        phones
      ];
    const lines = this.#sent.flatMap(({ payout, ...one }): StatementLine[] => {
      const { payto, amount_cents: amountCents, reference } = payout;
      const line = { account: shown(payto), amountCents };
      const went = {
        ...{ ...line, kind: 'payout' as const, reference: names ? reference : null },
        ...{ transId: one.receipt, completedAt: one.out },
      };
      const came = {
        ...{ ...line, kind: 'reversal' as const, reference: null, transId: one.row },
        ...{ completedAt: one.back, hasComeBack: true as const, isUndecided: true as const },
      };
      const isOut = listed !== 'back' && (one.truth === 'out' || one.truth === 'back');
      const isBack = listed !== 'out' && one.truth === 'back';
      return [...(isOut ? [went] : []), ...(isBack ? [came] : [])];
    });
    if (lines.length === 0) return;
    const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
    const period = { from: day(-1), to: day(1) };
    await runStatement(this.#database, lines, period, { covers: [] }, `${Math.random()}.csv`);
  }

  async #open(): Promise<DiscrepancyCase[]> {
    return openCases(this.#database, this.#merchant);
  }

  /** Answers one of the open questions, from a place on, if any can be answered now. @returns whether one was */
  async #answer(open: DiscrepancyCase[], from: number): Promise<boolean> {
    for (const index of open.keys()) {
      const found = open[(from + index) % open.length]!;
      const as = await this.#wordFor(found);
      if (as === null) continue;
      if (as !== 'assigned') await this.#resolve(found, as);
      return true;
    }
    return false;
  }

  async #resolve({ id, kind, allowed }: DiscrepancyCase, as: Resolution): Promise<void> {
    const decision = { as, transId: null, actor: 'tester', reason: 'because' };
    try {
      await inTransaction(this.#database, (trx) =>
        resolveDiscrepancy(trx, id, decision, RESOLVING),
      );
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      throw new Error(`${kind} as ${as} of ${allowed}: ${error.message}`);
    }
  }

  #withReceipt(receipt: string | null): Sent {
    return this.#sent.find((one) => one.receipt === receipt || one.row === receipt)!;
  }

  /** Returns what somebody says who knows the truth and reads the handbook; null if something else comes first. */
  async #wordFor(found: DiscrepancyCase): Promise<Resolution | null | 'assigned'> {
    const { kind, allowed, trans_id, details } = found;
    const first = (...words: Resolution[]) => words.find((word) => allowed.includes(word)) ?? null;
    if (kind === 'money_back') return this.#wordForRow(found);
    if (kind === 'unknown_movement') {
      const { status } = await reread(this.#database, this.#withReceipt(trans_id).payout);
      return status === 'completed' || status === 'failed' ? 'dismissed' : null;
    }
    const one = this.#sent.find(({ payout }) => payout.id === found.payment_id)!;
    const isBack = one.truth === 'back' || one.truth === 'refused';
    switch (kind) {
      case 'failure_after_success': {
        const isOfOther = 'has_come_back' in details && details.receipt !== one.row;
        return isOfOther || !isBack || one.isByHand ? 'dismissed' : first('undo', 'dismissed');
      }
      case 'undone_money':
        return isBack ? first('returned', 'dismissed') : first('failed', 'dismissed');
      case 'paid_after_refund':
        return isBack ? first('returned') : first('completed');
      case 'second_success': {
        if (trans_id !== null && trans_id !== one.receipt) return first('undo', 'returned');
        return first('same', 'completed', 'returned');
      }
      case 'doubted':
        return isBack ? 'dismissed' : first('undo', 'dismissed');
      case 'receipt_of_another':
        return trans_id === one.receipt ? 'dismissed' : first('undo', 'dismissed');
      default:
        throw new Error(`No word for ${kind}: ${allowed}`);
    }
  }

  /** Support assigns every other row to its payout, and books the others by hand. */
  async #wordForRow({ id, trans_id }: DiscrepancyCase): Promise<Resolution | null | 'assigned'> {
    const one = this.#withReceipt(trans_id);
    const now = await reread(this.#database, one.payout);
    const open = (await casesOf(this.#database, now)).filter(({ resolved_at }) => !resolved_at);
    if (open.length > 0) return null;
    if (this.#sent.indexOf(one) % 2 === 0 && now.status !== 'failed') {
      const assigned = inTransaction(this.#database, (trx) =>
        assignRow(trx, id, refOf(now), 'tester'),
      );
      const isAssigned = await assigned.then(
        () => true,
        (error: Error) => {
          if (error instanceof OperatorRefusal) return false;
          throw error;
        },
      );
      if (isAssigned) return 'assigned';
    }
    if (now.status === 'failed') return 'dismissed';
    if (now.status !== 'completed') return null;
    if (now.undone_at === null) await this.#bookByHand(one);
    return 'dismissed';
  }

  async #bookByHand(one: Sent): Promise<void> {
    const { merchant_id, amount_cents, fee_cents } = one.payout;
    if (one.isByHand) return;
    one.isByHand = true;
    const entry = {
      ...({ kind: 'adjustment', wallet: 'payout', against: 'losses', reason: 'Back' } as const),
      ...{ merchant_id, reference: one.row, amount_cents: amount_cents + fee_cents },
    };
    const move = { from_account: 'losses', to_account: 'simulator/utility', amount_cents };
    await inTransaction(this.#database, async (trx) => {
      await bookOperatorEntry(trx, entry);
      await bookOwnMove(trx, { ...move, reference: one.row });
    });
  }

  /** All is told, listed and answered. */
  async settleDown(form: FileForm, last: { isTold: boolean; isMoved: boolean }): Promise<void> {
    for (const one of this.#sent) {
      if (one.truth === 'not sent') one.truth = last.isMoved ? 'out' : 'refused';
      const { status } = await reread(this.#database, one.payout);
      const isEnded = status === 'completed' || status === 'failed';
      if (last.isTold || !isEnded) this.#tell(one, { hasReceipt: true, isLate: true });
    }
    while (this.#told.length > 0) await this.#hear();
    const kinds: string[] = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      await this.#file(form);
      const open = await this.#open();
      kinds.push(open.map(({ kind }) => kind).join(' '));
      for (const one of this.#sent) await this.#refund(one);
      if (open.length === 0 && round > 0) return;
      await this.#answerAll(round);
    }
    expect.fail(`questions that come again: ${kinds.join('; ')}`);
  }

  /** Lets its rows be older than what a comparison looks at again: the next history does not pay for this one. */
  async growOld(): Promise<void> {
    await rewrite(
      this.#database,
      `UPDATE discrepancies SET details = details || jsonb_build_object('completed_at',
         CAST(details->>'completed_at' AS timestamptz) - interval '100 days')
       WHERE kind IN ('failure_after_success', 'money_back') AND trans_id ~ :receipts`,
      { receipts: `^M${this.#merchant.merchant_id}R` },
    );
  }

  async #answerAll(from: number): Promise<void> {
    const said: string[] = [];
    while (said.length < MAX_ANSWERS) {
      const open = await this.#open();
      said.push(open.map(({ kind, trans_id }) => `${kind} ${trans_id}`).join(', '));
      if (!(await this.#answer(open, from))) return;
    }
    expect.fail(`answers that ask again: ${said.slice(-10).join('; ')}`);
  }

  /** Merchant and gateway have what is theirs. */
  async expectRight(): Promise<void> {
    const { merchant_id } = this.#merchant;
    const sum = (sent: Sent[], cents: (one: Payout) => number) =>
      sent.reduce((total, { payout }) => total + cents(payout), 0);
    const kept = this.#sent.filter(({ truth }) => truth !== 'out');
    const byHand = this.#sent.filter(({ isByHand }) => isByHand);
    const out = this.#sent.filter(({ truth }) => truth === 'out');
    const cost = (one: Payout) => one.amount_cents + one.fee_cents;
    const amount = (one: Payout) => one.amount_cents;
    const balance = (account: string) => accountBalance(this.#database, merchant_id, account);
    expect({
      wallet: await walletBalance(this.#database, merchant_id, 'payout'),
      float: await balance('gateway_float'),
      losses: await balance('losses'),
      suspense: await balance('suspense'),
    }).to.deep.equal({
      wallet: sum(kept, cost),
      float: sum([...out, ...byHand], amount),
      losses: 0 - sum(byHand, cost),
      suspense: 0,
    });
    const [flight] = await rows<{ count: number }>(
      this.#database,
      `SELECT count(*) AS count FROM payouts WHERE merchant_id = :merchant_id
         AND (status NOT IN ('completed', 'failed') OR status = 'failed' AND refund_posted_at IS NULL)`,
      { merchant_id },
    );
    expect(Number(flight!.count), 'payouts that are stuck').to.equal(0);
  }
}

/** Rounds of a file and all answers, after which nothing may be new. */
const MAX_ROUNDS = 6;
/** More answers than a history of a few payouts can ask for: one of them asks again. */
const MAX_ANSWERS = 60;
