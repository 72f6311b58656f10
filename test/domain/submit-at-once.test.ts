import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { POLL_NOW } from '../../src/domain/payments/schedule.ts';
import { claimAtOnce } from '../../src/domain/submission/claim-submission.ts';
import { acknowledgeAtOnce } from '../../src/domain/submission/record-submission.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { atOnceChecks } from '../support/at-once.ts';
import { PAYMENT_KINDS, POLL_FIRST_MS, useStore } from '../support/world.ts';

const GATEWAYS = ['simulator'];
const ACKNOWLEDGED = { outcome: 'acknowledged', externalRef: 'GW-1' } as const;

describe('In one statement', () => {
  const store = useStore({ merchant: 'all' });
  const checks = atOnceChecks(() => store.database);
  const { change, setPayment, expectNothing, whileLocked } = checks;

  for (const kind of PAYMENT_KINDS) {
    describe(`a ${kind} is claimed`, () => {
      let payment: AnyPayment;

      beforeEach(async () => {
        payment = await store.newPayment(kind);
      });

      const claim = (stepNo = payment.step_no, gateways = GATEWAYS) =>
        claimAtOnce(store.database, refOf(payment), stepNo, gateways);

      it('once, however many try', async () => {
        const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
        const [won, ...others] = claims.filter((one) => one !== null);
        expect(others).to.deep.equal([]);
        expect(won).to.deep.equal(await store.reread(payment));
        expect(await store.workOn(payment).results()).to.deep.equal([null]);
      });

      const FORBIDDEN: Readonly<Record<string, (one: AnyPayment) => Promise<unknown>>> = {
        'is to be asked about': (one) => changeStep(store.database, refOf(one), POLL_NOW),
        'has ended': setPayment(`status = 'failed'`),
        'is past its deadline': setPayment(`deadline_at = now() - interval '1 s'`),
        'has an attempt': (one) => store.workOn(one).claim(),
        'has an attempt that was not taken': async (one) => {
          await store.workOn(one).claim();
          await store.workOn(one).setAttempts(`result = 'not_taken'`);
        },
        'has another gateway': setPayment(`gateway = 'another'`),
        ...(kind === 'reversal' && {
          'has no receipt to reverse': setPayment('original_trans_id = NULL'),
        }),
      };
      for (const [what, forbid] of Object.entries(FORBIDDEN)) {
        it(`not when it ${what}`, async () => {
          await forbid(payment);
          const { step_no } = await store.reread(payment);
          await expectNothing(payment, () => claim(step_no));
        });
      }

      it('not by a stale job, nor while somebody else has it', async () => {
        await expectNothing(payment, () => claim(payment.step_no - 1));
        await expectNothing(payment, () => whileLocked(payment, () => claim()));
      });

      const BRAKES: Readonly<
        Record<string, [on: string, off: string, only?: AnyPayment['kind'][]]>
      > = {
        'its channel is paused': [
          'INSERT INTO paused_channels (code) VALUES (:channel)',
          'DELETE FROM paused_channels',
        ],
        'the database is another': [
          `UPDATE installation SET seen_on = 'system 1, timeline 00000001, database 1'`,
          'UPDATE installation SET seen_on = NULL',
        ],
        'payouts and reversals of its merchant are held': [
          'UPDATE merchants SET payouts_held = true WHERE id = :merchant_id',
          'UPDATE merchants SET payouts_held = false WHERE id = :merchant_id',
          ['payout', 'reversal'],
        ],
        'its merchant is suspended': [
          'UPDATE merchants SET active = false WHERE id = :merchant_id',
          'UPDATE merchants SET active = true WHERE id = :merchant_id',
          ['payout', 'reversal'],
        ],
      };
      for (const [when, [on, off, only = [kind]]] of Object.entries(BRAKES)) {
        if (!only.includes(kind)) continue;
        it(`not while ${when}`, async () => {
          await change(on, payment);
          await expectNothing(payment, () => claim());
          await change(off, payment);
          expect(await claim()).to.not.equal(null);
        });
      }
    });
  }

  it('a payout waits for a brake that is being set, and then is not claimed', async () => {
    for (const brake of [
      'UPDATE merchants SET payouts_held = true WHERE id = :merchant_id',
      'INSERT INTO paused_channels (code) VALUES (:channel)',
    ]) {
      const payout = await store.newPayment('payout');
      let claiming: Promise<unknown> = Promise.resolve();
      await store.transaction(async (trx) => {
        await rows(trx, 'SELECT pg_advisory_xact_lock(claims_lock(:merchant_id))', payout);
        claiming = claimAtOnce(store.database, refOf(payout), payout.step_no, GATEWAYS);
        await rows(trx, 'SELECT pg_sleep(0.2)');
        await rows(trx, brake, payout);
      });
      expect(await claiming).to.equal(null);
      await change('UPDATE merchants SET payouts_held = false');
      await change('DELETE FROM paused_channels');
    }
  });

  for (const kind of PAYMENT_KINDS) {
    describe(`a claimed ${kind} is acknowledged`, () => {
      let payment: AnyPayment;

      beforeEach(async () => {
        payment = (await store.workOn(await store.newPayment(kind)).claim())!.payment;
      });

      const acknowledge = () =>
        acknowledgeAtOnce(store.database, payment, ACKNOWLEDGED, POLL_FIRST_MS);

      it('with its attempt, its history and its next step', async () => {
        expect(await acknowledge()).to.equal(true);
        const work = store.workOn(payment);
        expect(await work.results()).to.deep.equal(['acknowledged']);
        expect(await work.current()).to.include({
          ...{ status: 'processing', external_ref: 'GW-1', next_step: 'poll' },
          step_no: payment.step_no + 1,
        });
        expect(await acknowledge()).to.equal(false);
      });

      const FORBIDDEN: Readonly<Record<string, (one: AnyPayment) => Promise<unknown>>> = {
        'has another step': (one) => changeStep(store.database, refOf(one), POLL_NOW),
        'is parked': setPayment(`parked_reason = 'test'`),
        'has a reference of the gateway': setPayment(`external_ref = 'GW-0'`),
        'has another status': setPayment(`status = 'processing'`),
        'has an attempt that was ruled out': (one) =>
          store.workOn(one).setAttempts(`result = 'ruled_out'`),
      };
      for (const [what, forbid] of Object.entries(FORBIDDEN)) {
        it(`not when it ${what} meanwhile`, async () => {
          await forbid(payment);
          await expectNothing(payment, acknowledge);
        });
      }

      it('not while somebody else has it', () =>
        expectNothing(payment, () => whileLocked(payment, acknowledge)));
    });
  }
});
