import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { CallbackNews } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep, submitStep } from '../../src/domain/payments/schedule.ts';
import type { ReconcileOptions } from '../../src/domain/reconciliation/reconcile.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { type Callback, findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { DAY_MS, HOUR_MS } from '../../src/time.ts';
import { withFastClock } from '../support/fast-clock.ts';
import {
  lineOf,
  linesAround,
  newReceipt,
  otherLines,
  runStatement,
} from '../support/statements.ts';
import { failed, NOT_FOUND, newsOf, PAYMENT_KINDS, succeeded, useStore } from '../support/world.ts';

/** Long enough for a callback on a busy machine. */
const WINDOW_MS = 3_000;
/** Covers everything that is made now, until well after. */
const AROUND_NOW = { from: '2000-01-01', to: '2999-12-31' };

describe('A statement that covers the life of an overdue payment', () => {
  const store = useStore({ fresh: true });
  /** Without these lines a statement rules nothing out. */
  let around: StatementLine[];

  beforeEach(async () => {
    around = await linesAround(store.database, store.merchant);
  });

  afterEach(async () => {
    await store.expectSoundLedger();
  });

  const run = (
    lines: StatementLine[],
    period = AROUND_NOW,
    overrides: Partial<ReconcileOptions> = {},
  ) => runStatement(store.database, [...around, ...lines], period, overrides);

  async function overdue(kind: (typeof PAYMENT_KINDS)[number]): Promise<AnyPayment> {
    const payment = await store.newPayment(kind);
    const table = `${kind}s`;
    await store.rewrite(
      `UPDATE ${table} SET deadline_at = now() - interval '1 hour', next_step = 'poll'
       WHERE id = :id`,
      { id: payment.id },
    );
    return payment;
  }

  for (const [when, hoursAgo] of [
    ['hours after its deadline', 12],
    ['on its day alone', null],
  ] as const) {
    it(`does not fail a payout while it has a line of its account and amount, ${when}`, async () => {
      const payout = await store.newPayout({ payto: '+254700111222' });
      await store.rewrite(
        `UPDATE payouts SET created_at = now() - interval '40 hours', next_step = 'poll',
           deadline_at = now() - interval '36 hours' WHERE id = :id`,
        { id: payout.id },
      );
      const { created_at } = await store.reread(payout);
      const completedAt =
        hoursAgo === null
          ? new Date(Math.floor(created_at.getTime() / DAY_MS) * DAY_MS)
          : new Date(Date.now() - hoursAgo * HOUR_MS);
      const { ruledOut } = await run([lineOf(payout, { reference: null, completedAt })]);
      expect(ruledOut).to.deep.equal([]);
      expect(await store.reread(payout)).to.include({ status: 'pending' });
    });
  }

  for (const kind of PAYMENT_KINDS) {
    it(`fails the ${kind} that it does not list`, async () => {
      const payment = await overdue(kind);
      const { ruledOut } = await run(await otherLines(store.database, []), AROUND_NOW);
      expect(ruledOut.map(({ id }) => id)).to.deep.equal([payment.id]);
      expect(await store.reread(payment)).to.include({
        status: 'failed',
        result_code: 90_010,
        result_description: 'The network has no record of this payment',
      });
    });
  }

  const WITHOUT: Record<string, (line: StatementLine, created: Date) => boolean> = {
    'any line, as of a shortcode that is not registered': () => false,
    'a line from before the payment': ({ completedAt }, created) => completedAt > created,
    'a line from after its deadline': ({ completedAt }) => completedAt.getFullYear() < 2002,
    'a line of its kind': ({ kind }) => kind !== 'payout',
  };
  for (const [what, isListed] of Object.entries(WITHOUT)) {
    it(`proves nothing without ${what}`, async () => {
      const payment = await overdue('payout');
      await store.rewrite(
        `UPDATE payouts SET created_at = now() - interval '2 hours' WHERE id = :id`,
        { id: payment.id },
      );
      const twoHoursAgo = new Date(Date.now() - 2 * HOUR_MS);
      const lines = around.filter((line) => isListed(line, twoHoursAgo));
      const { ruledOut } = await runStatement(store.database, lines, AROUND_NOW);
      expect(ruledOut).to.deep.equal([]);
      expect(await store.reread(payment)).to.include({ status: 'pending' });
    });
  }

  it('proves nothing by lines of payments that nobody knows here', async () => {
    await overdue('payout');
    const strangers = around.map((line) => ({
      ...line,
      reference: null,
      transId: newReceipt(),
      amountCents: 7,
    }));
    const { ruledOut } = await runStatement(store.database, strangers, AROUND_NOW);
    expect(ruledOut).to.deep.equal([]);
  });

  it('leaves alone what is not overdue, not long enough, or still to be sent', async () => {
    await store.newPayment('payout');
    const waiting = await overdue('payout');
    await store.rows(`UPDATE payouts SET next_step = 'submit' WHERE id = :id`, {
      id: waiting.id,
    });
    const recent = await overdue('payout');
    expect(await run([], AROUND_NOW, { settling_window_ms: 2 * HOUR_MS })).to.deep.include({
      ruledOut: [],
    });
    expect(await store.reread(recent)).to.include({ status: 'pending' });
    const { ruledOut } = await run([], AROUND_NOW);
    expect(ruledOut.map(({ id }) => id)).to.deep.equal([recent.id]);
  });

  const SETTLING_MS = 5_000;
  /** By when it was begun and answered, in seconds; a call without answer may last 30. */
  const ATTEMPTS: Record<string, { begun: number; answered: number | null; ruledOut: boolean }> = {
    'whose call may be going on': { begun: 20, answered: null, ruledOut: false },
    'whose call may have ended a moment ago': { begun: 32, answered: null, ruledOut: false },
    'whose outcome became unknown a moment ago': { begun: 60, answered: 2, ruledOut: false },
    'whose call is surely over for long': { begun: 40, answered: null, ruledOut: true },
    'whose outcome has been unknown for long': { begun: 60, answered: 40, ruledOut: true },
  };
  for (const [what, { begun, answered, ruledOut }] of Object.entries(ATTEMPTS)) {
    it(`${ruledOut ? 'fails' : 'leaves alone'} one ${what}`, async () => {
      const payment = await overdue('payout');
      await store.rows(
        `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result,
           started_at, answered_at)
         VALUES (:merchant_id, 'payout', :id, 1, :result,
           now() - :begun * interval '1 second', now() - :answered * interval '1 second')`,
        {
          ...{ merchant_id: store.merchantId, id: payment.id, begun, answered },
          result: answered === null ? null : 'unknown',
        },
      );
      const found = await run([], AROUND_NOW, { settling_window_ms: SETTLING_MS });
      expect(found.ruledOut.map(({ id }) => id)).to.deep.equal(ruledOut ? [payment.id] : []);
    });
  }

  it('leaves alone one that is sent again while the gateway is asked about others', async () => {
    const payments = [await overdue('payout'), await overdue('payout')];
    const waiting = [...payments];
    const { ruledOut } = await run([], AROUND_NOW, {
      ask: async ({ id }) => {
        waiting.splice(
          waiting.findIndex((payment) => payment.id === id),
          1,
        );
        for (const other of waiting) await sendAgain(other);
        return NOT_FOUND;
      },
    });
    expect(ruledOut).to.have.length(1);
    const [sent] = payments.filter(({ id }) => id !== ruledOut[0]!.id);
    expect(await store.reread(sent!)).to.include({ status: 'pending' });
  });

  async function sendAgain(payment: AnyPayment): Promise<void> {
    const work = store.workOn(payment);
    await changeStep(store.database, refOf(payment), submitStep(payment));
    expect(await work.claim()).to.not.equal(null);
    await changeStep(store.database, refOf(payment), pollStep(payment, 0));
  }

  it('lists nothing that is still to come, whatever the clock of this machine says', async () => {
    const payment = await overdue('payout');
    await store.rows(
      `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result, answered_at)
       VALUES (:merchant_id, 'payout', :id, 1, 'unknown', now())`,
      { merchant_id: store.merchantId, id: payment.id },
    );
    const { ruledOut } = await withFastClock(HOUR_MS, () =>
      run([], AROUND_NOW, { settling_window_ms: 60_000, complete_until: new Date('2999-01-01') }),
    );
    expect(ruledOut).to.deep.equal([]);
  });

  it('leaves alone what a line that nothing explains may be about', async () => {
    const payment = await overdue('payout');
    const line = lineOf(payment, { reference: 'somebody-elses', completedAt: new Date() });
    expect(await run([line], AROUND_NOW)).to.deep.include({ ruledOut: [] });
  });

  const HOLDS_BACK: Record<string, [of: Partial<StatementLine>, isHeld: boolean]> = {
    'amount, time and phone': [{}, true],
    'amount, time and tail of the phone': [{ account: '+2547*****678' }, true],
    'amount and time, without a phone': [{ account: null }, true],
    'time and phone, but not amount': [{ amountCents: 77 }, false],
    'amount and time, but another phone': [{ account: '+254722000000' }, false],
    'amount and phone, but before the payment': [{ completedAt: new Date(0) }, false],
    'amount, time and phone, but another kind': [{ kind: 'payout' }, false],
  };
  for (const [what, [of, isHeld]] of Object.entries(HOLDS_BACK)) {
    const does = isHeld ? 'holds back' : 'does not hold back';
    it(`${does} a prompt by an odd line of its ${what}`, async () => {
      const payment = await overdue('collection');
      const odd = { reference: null, transId: newReceipt(), completedAt: new Date() };
      const { ruledOut } = await run([lineOf(payment, { ...odd, ...of })]);
      expect(ruledOut.map(({ id }) => id)).to.deep.equal(isHeld ? [] : [payment.id]);
    });
  }

  it('leaves alone what an undecided row may be about', async () => {
    const payment = await overdue('payout');
    const of = { isUndecided: true, reference: null, completedAt: new Date() } as const;
    expect(await run([lineOf(payment, of)])).to.deep.include({ ruledOut: [] });
  });

  it('leaves alone what has begun before it', async () => {
    await overdue('payout');
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const period = { from: tomorrow, to: '2999-12-31' };
    expect(await run([], period)).to.deep.include({ ruledOut: [] });
  });

  it('leaves alone what is of a kind that it does not cover', async () => {
    const payment = await overdue('payout');
    const others = { covers: ['collection', 'reversal'] } as const;
    expect(await run([], AROUND_NOW, others)).to.deep.include({ ruledOut: [] });
    const { ruledOut } = await run([], AROUND_NOW, { covers: ['payout'] });
    expect(ruledOut.map(({ id }) => id)).to.deep.equal([payment.id]);
  });

  it('leaves alone what may have moved after it was complete', async () => {
    await overdue('payout');
    for (const complete_until of [null, new Date(Date.now() - 2 * HOUR_MS)]) {
      const listed = await run([], AROUND_NOW, { complete_until });
      expect(listed, String(complete_until)).to.deep.include({ ruledOut: [], answered: [] });
    }
  });

  it('leaves alone one of the amount of a line that fits several others', async () => {
    const others = [await store.newPayment('payout'), await store.newPayment('payout')];
    await store.rows(`UPDATE payouts SET external_ref = 'GW-TWICE'`);
    const payment = await overdue('payout');
    const line = lineOf(others[0]!, { reference: 'GW-TWICE', completedAt: new Date() });
    const { lines, ruledOut } = await run([line]);
    expect(lines).to.include({ contradicts: 1 });
    expect(ruledOut).to.deep.equal([]);
    expect(await store.reread(payment)).to.include({ status: 'pending' });
  });

  it('leaves alone what it lists outside of its period', async () => {
    const payment = await overdue('payout');
    const line = lineOf(payment, {
      amountCents: 77,
      completedAt: new Date('2999-12-31T23:00:00Z'),
    });
    const { ruledOut } = await run([line], { from: '2000-01-01', to: '2999-12-30' });
    expect(ruledOut).to.deep.equal([]);
  });

  it('leaves alone what the gateway, asked, calls pending', async () => {
    const payment = await overdue('payout');
    const asked: string[] = [];
    const result = await run([], AROUND_NOW, {
      ask: async ({ id }) => {
        asked.push(id);
        return { outcome: 'pending' };
      },
    });
    expect(result).to.deep.include({ ruledOut: [], answered: [] });
    expect(asked).to.deep.equal([payment.id]);
    expect(await store.reread(payment)).to.include({ status: 'pending' });
  });

  it('settles by the answer what the gateway, asked, knows the end of', async () => {
    for (const [answer, status] of [
      [succeeded({ transId: newReceipt() }), 'completed'],
      [failed(), 'failed'],
    ] as const) {
      const payment = await overdue('payout');
      const result = await run([], AROUND_NOW, { ask: async () => answer });
      expect(result.answered.map(({ id }) => id)).to.deep.equal([payment.id]);
      expect(result.ruledOut).to.deep.equal([]);
      expect(await store.reread(payment)).to.include({ status });
    }
  });

  describe('when the gateway takes the question and answers with a callback', () => {
    const asked = { outcome: 'asked' } as const;

    async function tell(payment: AnyPayment): Promise<Callback> {
      const id = await store.keepCallback('simulator', refOf(payment), '{}');
      return (await findStoredCallback(store.database, payment.merchant_id, id))!;
    }

    async function read(callback: Callback, verdict: CallbackNews) {
      const { payment_id: id } = callback;
      const isVerdict = verdict.outcome === 'succeeded' || verdict.outcome === 'failed';
      const news = isVerdict ? newsOf({ id }, verdict) : verdict;
      await store.rewrite('UPDATE callbacks SET body = :body WHERE id = :id', {
        id: callback.id,
        body: JSON.stringify(news),
      });
      return processCallback(store.database, callback, () => () => ({
        reference: null,
        verdict: news,
      }));
    }

    it('waits for the answer and goes by it', async () => {
      const payments = [await overdue('payout'), await overdue('payout')];
      const answers = [succeeded(), failed()];
      const told: Promise<unknown>[] = [];
      const { ruledOut } = await run([], AROUND_NOW, {
        answer_window_ms: WINDOW_MS,
        ask: async (payment) => {
          const answer = answers[payments.findIndex(({ id }) => id === payment.id)]!;
          told.push(sleep(1).then(async () => read(await tell(payment), answer)));
          return asked;
        },
      });
      await Promise.all(told);
      expect(ruledOut).to.deep.equal([]);
      const ends = await Promise.all(payments.map((payment) => store.reread(payment)));
      expect(ends.map(({ status }) => status)).to.deep.equal(['completed', 'failed']);
      expect(ends[1]).to.include({ result_code: failed().code });
    });

    for (const [what, isRead] of [
      ['has an answer that nobody has read yet', false],
      ['is pending by the answer', true],
    ] as const) {
      it(`leaves alone what ${what}`, async () => {
        const payment = await overdue('payout');
        const { ruledOut } = await run([], AROUND_NOW, {
          ask: async () => {
            const callback = await tell(payment);
            if (isRead) await read(callback, { outcome: 'pending' });
            return asked;
          },
        });
        expect(ruledOut).to.deep.equal([]);
        expect(await store.reread(payment)).to.include({ status: 'pending' });
      });
    }

    it('leaves alone what no answer comes about in time: silence is not proof', async () => {
      const payments = [await overdue('payout'), await overdue('collection')];
      const { ruledOut } = await run([], AROUND_NOW, {
        answer_window_ms: 1,
        ask: async () => asked,
      });
      expect(ruledOut).to.deep.equal([]);
      for (const payment of payments) {
        expect(await store.reread(payment)).to.include({ status: 'pending' });
      }
    });

    it('fails what the answer calls not found', async () => {
      const payment = await overdue('payout');
      const { ruledOut } = await run([], AROUND_NOW, {
        ask: async () => {
          await read(await tell(payment), { outcome: 'notFound', settlingWindowMs: 0 });
          return asked;
        },
      });
      expect(ruledOut.map(({ id }) => id)).to.deep.equal([payment.id]);
    });
  });

  it('leaves alone what the gateway does not answer about', async () => {
    const payment = await overdue('payout');
    const noAnswer = { outcome: 'noAnswer', reason: 'timeout' } as const;
    const result = await run([], AROUND_NOW, { ask: async () => noAnswer });
    expect(result).to.deep.include({ ruledOut: [], answered: [] });
    expect(await store.reread(payment)).to.include({ status: 'pending' });
  });

  it('leaves alone what has moved on while the gateway was asked', async () => {
    const payment = await overdue('payout');
    const result = await run([], AROUND_NOW, {
      ask: async () => {
        await store.rows(
          `UPDATE payouts SET next_step = 'submit', step_no = step_no + 1 WHERE id = :id`,
          { id: payment.id },
        );
        return NOT_FOUND;
      },
    });
    expect(result.ruledOut).to.deep.equal([]);
    expect(await store.reread(payment)).to.include({ status: 'pending' });
  });
});
