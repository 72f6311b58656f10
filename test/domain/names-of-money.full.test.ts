import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  type AnyPayment,
  accountOf,
  lockPayment,
  refOf,
} from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { failed, parserOf, RESOLVING, succeeded, useStore } from '../support/world.ts';

/*
 * A statement lists the money of a payment under one of its names, before anybody knows whose it is. People
 * answer the question about it. Then news tells of the payment, under another name. Whatever the names are, the
 * money is not booked, given back or sent back twice without an open question. Each story plays one listing,
 * one answer and one piece of news. A story that is silent so far ends with a complete statement.
 */

const KINDS = ['collection', 'payout'] as const;
const BEFORE = ['open', 'failed', 'completed without a receipt', 'not here'] as const;
const LISTED = {
  unnamed: { reference: null, account: null },
  'with its phone': { reference: null },
  'under a strange reference': { reference: 'FT-9' },
  'under the gateway’s reference alone': { reference: 'GW', transId: null },
  'under the gateway’s reference': { reference: 'GW' },
} as const;
const ANSWERS = [
  ...(['booked by hand', 'booked by hand and dismissed', 'adopted'] as const),
  ...(['sent back', 'sent back under its own receipt'] as const),
] as const;
const NEWS = [
  ...(['receipt', 'nothing', 'receipt and gateway’s reference', 'gateway’s reference'] as const),
  ...(['line with our reference', 'line with both', 'acknowledgement'] as const),
] as const;

interface Story {
  kind: (typeof KINDS)[number];
  before: (typeof BEFORE)[number];
  listed: keyof typeof LISTED;
  answer: (typeof ANSWERS)[number];
  news: (typeof NEWS)[number];
}

/** Two listings that share no name: nothing tells that they are of the same money. */
function isTold({ listed, news }: Story): boolean {
  return !(listed === 'under the gateway’s reference alone' && news === 'line with our reference');
}

describe('Money that has several names', () => {
  const store = useStore({ fresh: true });

  for (const kind of KINDS) {
    for (const before of BEFORE) {
      it(`of a ${kind} that is ${before} is never booked, or sent back, twice in silence`, async () => {
        await store.topUp(10_000_000, `top-up ${kind} ${before}`);
        const silent: string[] = [];
        for (const listed of Object.keys(LISTED) as (keyof typeof LISTED)[]) {
          for (const answer of ANSWERS) {
            for (const news of NEWS) {
              const story = { kind, before, listed, answer, news };
              if (isTold(story) && !(await isAsked(story))) silent.push(JSON.stringify(story));
            }
          }
        }
        expect(silent).to.deep.equal([]);
      });
    }
  }

  let stories = 0;

  /** Plays a story. @returns whether the money was booked once, or somebody is asked. */
  async function isAsked({ kind, before, listed, answer, news }: Story): Promise<boolean> {
    stories += 1;
    // No other story has this money.
    const phone = `+2547${10_000_000 + stories}`;
    const amount_cents = 10_000 + 100 * stories;
    const made = await (kind === 'collection'
      ? store.newCollection({ payfrom: phone, amount_cents })
      : store.newPayout({ payto: phone, amount_cents }));
    const [receipt, own] = [newReceipt(), made.reference];
    const names = { GW: `GW-${receipt}` };
    const line = (over: Partial<StatementLine>): StatementLine => ({
      ...lineOf(made, { transId: receipt, completedAt: new Date(), ...over }),
      ...(over.reference === 'GW' && { reference: names.GW }),
    });
    const table = `${kind}s`;
    const rename = (reference: string) =>
      store.rewrite(`UPDATE ${table} SET reference = CAST(:reference AS uuid) WHERE id = :id`, {
        ...{ reference, id: made.id },
      });
    const work = store.workOn(made);
    let claim = before === 'not here' ? null : await work.claim();
    if (before === 'not here') await rename(randomUUID());
    if (before === 'failed') await tell(made, failed({ externalRef: null }));
    if (before === 'completed without a receipt') await tell(made, paid(null));
    await statement([line(LISTED[listed])]);
    const booked = await answered(answer, [receipt, names.GW], line);
    if (booked === null) return true;
    if (before === 'not here') {
      await rename(own);
      claim = await work.claim();
    }
    if (news === 'acknowledgement') {
      await work.answer(claim, { outcome: 'acknowledged', externalRef: names.GW });
    } else if (news === 'line with our reference') await statement([line({})]);
    else if (news === 'line with both') {
      await tell(made, paid(receipt));
      await statement([line({ reference: 'GW' })]);
    } else {
      const transId = news.startsWith('receipt') ? receipt : null;
      await tell(made, paid(transId, news.endsWith('reference') ? names.GW : null));
    }
    if (await isRight(made, booked)) return true;
    await statement([line(LISTED[listed])], [kind]);
    return isRight(made, booked);
  }

  /** Tells whether the money is booked once, or somebody is asked about it. None goes back a second time. */
  async function isRight(payment: AnyPayment, booked: number): Promise<boolean> {
    const { status, undone_at } = await store.reread(payment);
    const returns = (await store.returnsOf()).filter(
      (each) => each.account === accountOf(payment) && each.status !== 'failed',
    ).length;
    if (returns > 0) return false;
    const isBooked = status === 'completed' && undone_at === null;
    if (booked + (isBooked ? 1 : 0) <= 1) return true;
    const cases = await casesOf(store.database, refOf(payment));
    if (cases.some(({ resolved_at }) => resolved_at === null)) return true;
    const named = await store.rows(
      `SELECT FROM discrepancies WHERE kind IN ('unknown_movement', 'unknown_payment')
         AND resolved_at IS NULL AND CAST(details AS text) LIKE '%' || :id || '%'`,
      { id: payment.id },
    );
    return named.length > 0;
  }

  const paid = (transId: string | null, externalRef: string | null = null) =>
    succeeded({ transId, externalRef, account: null, completedAt: null });

  const tell = (payment: AnyPayment, news: ReturnType<typeof paid | typeof failed>) =>
    store.transaction(async (trx) => {
      const locked = (await lockPayment(trx, refOf(payment)))!;
      const { amount_cents: amountCents } = payment;
      const told = news.outcome === 'succeeded' ? { ...news, amountCents } : news;
      return settle(trx, locked, told, { cause: 'callback', heardAt: null, parserOf });
    });

  const dayOf = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const statement = (lines: StatementLine[], covers: StatementLine['kind'][] = []) =>
    runStatement(store.database, lines, { from: dayOf(-1), to: dayOf(1) }, { covers });

  const questions = (names: string[]) =>
    store.rows<{ id: string; trans_id: string }>(
      `SELECT id, trans_id FROM discrepancies WHERE kind = 'unknown_movement'
         AND resolved_at IS NULL AND trans_id = ANY (:names)`,
      { names },
    );

  /**
   * Answers the question about listed money.
   * @returns how often the money is booked, or has gone back, by that; null if there is nothing to answer
   */
  async function answered(
    answer: Story['answer'],
    names: string[],
    line: (over: Partial<StatementLine>) => StatementLine,
  ): Promise<number | null> {
    const [question] = await questions(names);
    if (!question) return null;
    const { kind } = line({});
    const dismiss = async () => {
      for (const each of await questions(names)) await store.resolve(each as never, 'dismissed');
    };
    if (answer === 'adopted') {
      const wanted = { merchant_id: store.merchantId, receipts: [question.trans_id] };
      const plan = await planAdoption(store.database, wanted, RESOLVING).catch(() => null);
      if (!plan) return null;
      const by = { requested_by: 'amina', reason: 'lost' };
      await store.transaction((trx) => adoptAsAsked(trx, plan, by, RESOLVING));
    } else if (answer.startsWith('booked')) {
      const cents = kind === 'collection' ? 9_850 : -10_250;
      // It is refused while an open payment, or a completed one without a receipt, may have the money.
      const booked = await adjust(cents, kind, question.trans_id).catch((error: Error) => {
        if (!/wait for its end|it has no receipt/.test(error.message)) throw error;
        return null;
      });
      if (!booked) return null;
      if (answer.endsWith('dismissed')) await dismiss();
    } else {
      await dismiss();
      if (answer.endsWith('receipt')) {
        const back = kind === 'collection' ? 'reversal' : 'collection';
        await statement([line({ reference: null, account: null, kind: back })]);
        await dismiss();
      }
    }
    return 1;
  }

  const adjust = (amount_cents: number, wallet: StatementLine['kind'], reference: string) =>
    store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', wallet: wallet as 'payout', amount_cents, reference },
        ...{ merchant_id: store.merchantId, reason: 'by hand' },
      }),
    );
});
