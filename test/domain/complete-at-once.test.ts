import { expect } from 'chai';
import type { ParserOf, Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { POLL_NOW } from '../../src/domain/payments/schedule.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { completeAtOnce } from '../../src/domain/settlement/process-callback.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { atOnceChecks } from '../support/at-once.ts';
import { ACKNOWLEDGED, failed, newsOf, receiptOf, succeeded, useStore } from '../support/world.ts';

const UNEXPLAINED = `INSERT INTO discrepancies (id, kind, gateway, trans_id, details, evidence)
  VALUES (gen_random_uuid(), 'unknown_movement', 'simulator', gen_random_uuid(),
    jsonb_build_object('reference', CAST(:reference AS text)), '[]')`;

describe('In one statement', () => {
  const store = useStore({ merchant: 'all' });
  const checks = atOnceChecks(() => store.database);
  const { change, setPayment, written, expectNothing, whileLocked, interrupted } = checks;

  after(async () => {
    await store.expectSoundLedger();
  });

  for (const kind of ['collection', 'payout'] as const) {
    describe(`an acknowledged ${kind} is completed by its callback`, () => {
      let payment: AnyPayment;

      beforeEach(async () => {
        const work = store.workOn(await store.newPayment(kind));
        await work.answer(await work.claim(), ACKNOWLEDGED);
        payment = await work.current();
      });

      async function complete(
        verdict: Verdict = succeeded(),
        { reference = null as string | null, database = store.database } = {},
      ): Promise<boolean> {
        const [known] = await store.rows<{ id: string }>(
          'SELECT id FROM callbacks WHERE payment_id = :id',
          payment,
        );
        const id = known?.id ?? (await callback());
        const parserOf: ParserOf = () => () => ({ reference, verdict: newsOf(payment, verdict) });
        const stored = await findStoredCallback(store.database, payment.merchant_id, id);
        // Another try may have been faster, as another job may.
        return stored !== null && completeAtOnce(database, stored, parserOf);
      }

      const callback = () => store.keepCallback('simulator', refOf(payment), '{}');

      it('with its movement, receipt, event, journal and history', async () => {
        expect(await complete()).to.equal(true);
        expect(await store.reread(payment)).to.include({
          ...{ status: 'completed', result_code: 0, next_step: null, external_ref: 'GW-1' },
          trans_id: receiptOf(payment),
        });
        expect(await written(payment)).to.deep.include({
          ...{ movements: 1, receipts: 1, events: 1, history: 3, callbacks: ['processed'] },
          journals: kind === 'payout' ? 2 : 1,
        });
      });

      const OTHER_NEWS: Readonly<Record<string, [Verdict, reference?: string]>> = {
        'tells of a failure': [failed()],
        'has no receipt': [succeeded({ transId: null })],
        'tells of another amount': [succeeded({ amountCents: 9_999 })],
        'tells of another account': [succeeded({ account: '+254799999999' })],
        'names another reference of the gateway': [succeeded({ externalRef: 'GW-2' })],
        'names another payment': [succeeded(), '3e0a4a4e-0000-4000-8000-000000000000'],
      };
      for (const [what, [verdict, reference]] of Object.entries(OTHER_NEWS)) {
        it(`not when it ${what}`, async () => {
          await callback();
          await expectNothing(payment, () => complete(verdict, reference ? { reference } : {}));
        });
      }

      const FORBIDDEN: Readonly<Record<string, (one: AnyPayment) => Promise<unknown>>> = {
        'has ended': setPayment(`status = 'failed', next_step = NULL, next_step_at = NULL,
          parked_reason = 'test'`),
        'is past its deadline': setPayment(`deadline_at = now() - interval '1 s'`),
        'is parked': setPayment(`parked_reason = 'test'`),
        'may be what nobody could explain': (one) => change(UNEXPLAINED, one),
        'has a discrepancy that the success settles': (one) =>
          change(
            `INSERT INTO discrepancies (id, kind, gateway, merchant_id, payment_kind, payment_id,
               details, evidence)
             VALUES (gen_random_uuid(), 'unclear_result', 'simulator', :merchant_id, :kind, :id,
               '{}', '[]')`,
            one,
          ),
        'shares its receipt with another payment': (one) =>
          change(
            `INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
             VALUES ('simulator', :direction, :receipt, :merchant_id, :kind, gen_random_uuid())`,
            { ...one, receipt: receiptOf(one), direction: kind === 'collection' ? 'in' : 'out' },
          ),
      };
      it('not when the payment may be it by the reference of the gateway', async () => {
        await setPayment(`external_ref = 'GW-9'`)(payment);
        await callback();
        await change(UNEXPLAINED, { reference: 'GW-9' });
        await expectNothing(payment, () => complete(succeeded({ externalRef: null })));
      });

      for (const [what, forbid] of Object.entries(FORBIDDEN)) {
        it(`not when the payment ${what}`, async () => {
          await callback();
          await forbid(payment);
          await expectNothing(payment, () => complete());
        });
      }

      const MEANWHILE: Readonly<Record<string, (one: AnyPayment) => Promise<unknown>>> = {
        'gets another step': (one) => changeStep(store.database, refOf(one), POLL_NOW),
        'is parked': setPayment(`parked_reason = 'test'`),
        'gets another reference of the gateway': setPayment(`external_ref = 'GW-2'`),
        'passes its deadline': setPayment(`deadline_at = now() - interval '1 s'`),
        ends: setPayment(`status = 'failed', parked_reason = 'test'`),
        'gets a movement': (one) =>
          change(
            `INSERT INTO movements (merchant_id, id, payment_kind, payment_id, gateway, trans_id,
               amount_cents, booked, told_by)
             VALUES (:merchant_id, gen_random_uuid(), :kind, :id, 'simulator', 'OTHER', 1,
               'undone', 'poll')`,
            one,
          ),
        'has its callback applied': (one) =>
          change(
            `UPDATE callbacks SET status = 'processed', next_step = NULL, next_step_at = NULL
             WHERE payment_id = :id`,
            one,
          ),
      };
      for (const [what, happen] of Object.entries(MEANWHILE)) {
        it(`not when the payment ${what} after it was read`, async () => {
          await callback();
          let before: unknown[] = [];
          const between = async () => {
            await happen(payment);
            before = [await store.reread(payment), await written(payment)];
          };
          const database = interrupted(between);
          expect(await complete(succeeded(), { database })).to.equal(false);
          const after = [await store.reread(payment), await written(payment)];
          expect(after).to.deep.equal(before);
          await store.rewrite('DELETE FROM movements WHERE payment_id = :id', payment);
        });
      }

      it('not while somebody else has it', async () => {
        await callback();
        await expectNothing(payment, () => whileLocked(payment, () => complete()));
      });

      it('once, however many try', async () => {
        await callback();
        const done = await Promise.all(Array.from({ length: 8 }, () => complete()));
        expect(done.filter((isDone) => isDone)).to.have.length(1);
        expect(await written(payment)).to.deep.include({ movements: 1, events: 1 });
      });
    });
  }

  it('no reversal and no return is completed', async () => {
    for (const kind of ['reversal', 'return'] as const) {
      const work = store.workOn(await store.newPayment(kind));
      await work.answer(await work.claim(), ACKNOWLEDGED);
      const payment = await work.current();
      const id = await store.keepCallback('simulator', refOf(payment), '{}');
      const stored = await findStoredCallback(store.database, payment.merchant_id, id);
      const verdict = newsOf(payment, succeeded());
      const parserOf: ParserOf = () => () => ({ reference: null, verdict });
      await expectNothing(payment, () => completeAtOnce(store.database, stored!, parserOf));
    }
  });
});
