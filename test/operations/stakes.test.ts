import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { inTransaction, rows } from '../../src/connections/database.ts';
import type { DiscrepancyKind } from '../../src/domain/discrepancies/discrepancy.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  refOf,
} from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { DAY_MS } from '../../src/time.ts';
import { keepCallback } from '../support/callbacks.ts';
import type { TestMember } from '../support/console.ts';
import {
  discrepancyOf,
  hear,
  makeOverdue,
  neverTake,
  refund,
  resolve,
  type Scene,
} from '../support/discrepancies/scene.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout, newReversal } from '../support/payment-kinds.ts';
import {
  failed,
  learn,
  newCollection,
  parserOf,
  receiptOf,
  succeeded,
} from '../support/payments.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { type Doors, nextOtp, openDoors } from './doors.ts';

const LIMIT_CENTS = 25_000;
const dayIn = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);
const AROUND_NOW = { from: dayIn(-DAY_MS), to: dayIn(DAY_MS) };

describe('The stakes of decisions by one person', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors({ STAFF_APPROVAL_LIMIT: String(LIMIT_CENTS) });
  });

  after(async () => {
    await expectSoundLedger(database());
    await doors.close();
  });

  const database = () => doors.test.testDatabase.database;
  const newMerchant = () => createTestMerchant(doors.test.service);

  /** A collection that could not be sent. Failing it gives nothing away. */
  async function untaken(merchant: TestMerchant, amount_cents: number): Promise<string> {
    const scene = { database: database(), merchant };
    const collection = await newCollection(database(), merchant, { amount_cents });
    await neverTake(scene, collection);
    return (await discrepancyOf(scene, 'never_taken', collection)).id;
  }

  interface Answer {
    approval?: string;
    why?: string;
    resolution?: string;
  }

  async function decide(id: string, member: TestMember, as = 'failed', transId?: string) {
    const receipt = transId ? ['--trans-id', transId] : [];
    const asked = ['discrepancy', 'resolve', id, '--as', as, ...receipt, '--json'];
    const done = await doors.run(asked, member);
    expect(done.stderr).to.equal('');
    return JSON.parse(done.stdout) as Answer;
  }

  it('count together for one person: the third decision of 100.00 needs another one', async () => {
    const member = await doors.newAdmin();
    const decided: Answer[] = [];
    for (let count = 0; count < 3; count += 1) {
      decided.push(await decide(await untaken(await newMerchant(), 10_000), member));
    }
    expect(decided.map(({ approval }) => approval !== undefined)).to.deep.equal([
      ...[false, false, true],
    ]);
    expect(decided[2]!.why).to.include('you have decided alone about KES 200.00 within 24 hours');
  });

  it('count together for one merchant, whoever decides', async () => {
    const merchant = await newMerchant();
    const [first, second] = [await doors.newAdmin(), await doors.newAdmin()];
    const one = await decide(await untaken(merchant, 15_000), first);
    const other = await decide(await untaken(merchant, 10_000), second);
    expect([one.approval, other.approval === undefined]).to.deep.equal([undefined, false]);
    expect(other.why).to.include('one person has decided for it about KES 150.00');
  });

  it('do not count once a second person has agreed', async () => {
    const [first, second] = [await doors.newAdmin(), await doors.newAdmin()];
    const { approval } = await decide(await untaken(await newMerchant(), LIMIT_CENTS), first);
    const agree = ['approval', 'approve', approval!, '--otp', nextOtp(second)];
    expect((await doors.run(agree, second)).stderr).to.equal('');
    const next = await decide(await untaken(await newMerchant(), LIMIT_CENTS - 1), first);
    expect(next.approval).to.equal(undefined);
  });

  it('reach the limit with exactly the limit', async () => {
    const member = await doors.newAdmin();
    const below = await decide(await untaken(await newMerchant(), LIMIT_CENTS - 100), member);
    const exact = await decide(await untaken(await newMerchant(), 100), member);
    expect([below.approval, exact.approval === undefined]).to.deep.equal([undefined, false]);
  });

  it('are counted when two decisions of one person are made at once', async () => {
    const member = await doors.newAdmin();
    const ids = [
      await untaken(await newMerchant(), 15_000),
      await untaken(await newMerchant(), 15_000),
    ];
    const done = await Promise.all(
      ids.map((id) => doors.run(['discrepancy', 'resolve', id, '--as', 'failed'], member)),
    );
    const open = await rows(
      database(),
      'SELECT FROM discrepancies WHERE id = ANY (CAST(:ids AS uuid[])) AND resolved_at IS NULL',
      { ids },
    );
    expect(open, JSON.stringify(done)).to.have.length(1);
  });

  it('need another person for a refund of any size on the word of a person', async () => {
    const scene = { database: database(), merchant: await newMerchant() };
    await makeOverdue(scene, await newPayout(database(), scene.merchant));
    const asked = await decide((await discrepancyOf(scene, 'overdue')).id, await doors.newAdmin());
    expect(asked.why).to.include(
      'It gives money away on the word of a person, not of the gateway.',
    );
  });

  it('need another person to settle the payment of another merchant, which the preview names', async () => {
    const scene = { database: database(), merchant: await newMerchant() };
    const other = await newMerchant();
    const transId = newReceipt();
    const payment = await newCollection(database(), scene.merchant);
    await makeOverdue(scene, payment);
    await resolve(scene, await discrepancyOf(scene, 'overdue', payment), 'completed', transId);
    await learn(database(), payment, succeeded({ transId: null, externalRef: null }), 'poll');
    const theirs = await newCollection(database(), other);
    await learn(database(), theirs, succeeded({ transId, externalRef: null }), 'callback');
    const { id } = await discrepancyOf(scene, 'receipt_of_another', payment);
    const asked = await decide(id, doors.support, 'undo');
    expect(asked.why).to.match(/^It settles another payment too/);
    expect((await findPayment(database(), theirs))!.status).to.equal('pending');
    const [{ preview }] = (await rows(database(), 'SELECT preview FROM approvals WHERE id = :id', {
      id: asked.approval,
    })) as [{ preview: string }];
    expect(preview)
      .to.include(`the collection ${theirs.id} of merchant ${other.merchant_id}`)
      .and.to.include('goes from pending to completed')
      .and.to.include('98.50')
      .and.not.include('Nothing is booked');
    const colleague = await doors.newAdmin();
    const approve = ['approval', 'approve', asked.approval!, '--otp', nextOtp(colleague)];
    expect((await doors.run(approve, colleague)).stderr).to.equal('');
    expect((await findPayment(database(), theirs))!.status).to.equal('completed');
  });

  it('are previewed with the balances of the wallets that change', async () => {
    const scene = { database: database(), merchant: await newMerchant() };
    await hear(scene, await newCollection(database(), scene.merchant), succeeded(), failed());
    const { id } = await discrepancyOf(scene, 'failure_after_success');
    const browser = await doors.browserOf(doors.support);
    const { text } = await browser.get(`/discrepancies/${id}/decide?as=undo`);
    expect(text).to.include('The collection wallet has KES 98.50, and KES 0.00 afterwards.');
    expect(text).to.not.include('payout wallet has');
  });

  /** Something that does not add up for a merchant of its own. */
  interface Wrong {
    payment: AnyPayment;
    kind: DiscrepancyKind;
    as: Resolution;
    transId?: string;
  }

  const GIVEN: Record<string, (scene: Scene) => Promise<Wrong>> = {
    'a write-off of a payout that has its refund': async (scene) => {
      const payment = await newPayout(database(), scene.merchant);
      await hear(scene, payment, failed());
      await refund(scene, payment);
      await hear(scene, payment, succeeded());
      return { payment, kind: 'paid_after_refund', as: 'failed' };
    },
    'a write-off of a payout whose refund waits': async (scene) => {
      const payment = await newPayout(database(), scene.merchant);
      await hear(scene, payment, failed(), succeeded({ amountCents: 9_000 }));
      return { payment, kind: 'other_amount', as: 'failed' };
    },
    'the word that a second payout has come back': async (scene) => {
      const payment = await newPayout(database(), scene.merchant);
      await hear(scene, payment, succeeded(), succeeded({ transId: 'RCPT2' }));
      return { payment, kind: 'second_success', as: 'returned' };
    },
    'the word that a reversal has failed': async (scene) => {
      const payment = await newReversal(database(), scene.merchant);
      await makeOverdue(scene, payment);
      return { payment, kind: 'overdue', as: 'failed' };
    },
    'the word that a reversal has come back': async (scene) => {
      const payment = await newReversal(database(), scene.merchant);
      await hear(scene, payment, succeeded({ amountCents: 9_000 }));
      return { payment, kind: 'other_amount', as: 'returned' };
    },
    'money back to a customer after the gateway has said that it has gone back': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      await hear(scene, payment, succeeded(), failed());
      await resolve(scene, await discrepancyOf(scene, 'failure_after_success', payment), 'undo');
      return { payment, kind: 'undone_money', as: 'returned' };
    },
    'the undoing of a reversal whose collection alone has failed': async (scene) => {
      const payment = await newReversal(database(), scene.merchant);
      await hear(scene, payment, succeeded({ transId: 'BACK1' }));
      const { merchant_id, collection_id: id } = payment;
      await learn(
        database(),
        (await findPayment(database(), { kind: 'collection', merchant_id, id }))!,
        failed(),
      );
      return { payment, kind: 'failure_after_success', as: 'undo' };
    },
    'money back to a customer under a receipt that another payment claims': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      const second = succeeded({ transId: newReceipt() });
      await hear(scene, payment, succeeded(), second);
      await hear(scene, await newCollection(database(), scene.merchant), second);
      return { payment, kind: 'second_success', as: 'returned' };
    },
    'a refund after the gateway has said that the payout was made': async (scene) => {
      const other = await newPayout(database(), scene.merchant);
      const shared = succeeded({ transId: newReceipt() });
      await hear(scene, other, shared);
      const payment = await newPayout(database(), scene.merchant);
      await hear(scene, payment, failed(), shared);
      return { payment, kind: 'receipt_of_another', as: 'dismissed' };
    },
  };

  let sent = 0;

  /** The callbacks of a payment, stored one after the other, and then applied together. */
  async function callBack(payment: AnyPayment, ...news: Verdict[]): Promise<void> {
    const ids: string[] = [];
    for (const each of news) {
      sent += 1;
      const body = JSON.stringify({ ...each, sent });
      ids.push(await keepCallback(database(), payment.gateway, refOf(payment), body));
    }
    const { merchant_id } = payment;
    const stored = await Promise.all(
      ids.map((id) => findStoredCallback(database(), merchant_id, id)),
    );
    await processCallback(database(), stored[0]!, parserOf);
  }

  async function acknowledged<P extends AnyPayment>(payment: P): Promise<P> {
    const work = workOn(database(), payment);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    return (await findPayment(database(), payment)) as P;
  }

  /** A success of which the gateway gives no receipt, amount and account. */
  const vague = succeeded({ transId: null, externalRef: null, amountCents: null, account: null });
  const clear = () => succeeded({ transId: newReceipt(), externalRef: null });
  const failure = failed({ externalRef: null });

  /** What one person would decide against another word of the gateway, perhaps its newest one. */
  const AGAINST_A_WORD: typeof GIVEN = {
    'money back to a customer who has paid once, maybe under a receipt that a file has given':
      async (scene) => {
        const payment = await newCollection(database(), scene.merchant);
        await learn(database(), payment, vague, 'poll');
        const line = lineOf(payment, { transId: newReceipt(), completedAt: new Date() });
        await runStatement(database(), [line], AROUND_NOW, { covers: [] }, 'file.csv');
        await hear(scene, payment, clear());
        return { payment, kind: 'second_success', as: 'returned' };
      },
    'the undoing of a reversal of which the gateway has told a success since': async (scene) => {
      const payment = await newReversal(database(), scene.merchant);
      await callBack(payment, clear());
      await callBack(payment, failure);
      await callBack(payment, clear());
      return { payment, kind: 'failure_after_success', as: 'undo' };
    },
    'a refund after a success, a failure and a success that were applied together': async (
      scene,
    ) => {
      const payment = await newPayout(database(), scene.merchant);
      const success = clear();
      await callBack(payment, success);
      await callBack(payment, failure, success);
      return { payment, kind: 'failure_after_success', as: 'undo' };
    },
    'money back to a customer after an answer that is older than the failure': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      // Moments are read to the millisecond.
      const asked = new Date(Date.now() - 10);
      await callBack(payment, failure);
      await inTransaction(database(), async (trx) => {
        const locked = await lockPayment(trx, refOf(payment));
        return settle(trx, locked!, clear(), { cause: 'poll', heardAt: asked, parserOf });
      });
      return { payment, kind: 'paid_after_failure', as: 'returned' };
    },
    'money back to a customer after the claim of another payment was dismissed': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      const second = succeeded({ transId: newReceipt() });
      await hear(scene, payment, succeeded(), second);
      await hear(scene, await newCollection(database(), scene.merchant), second);
      const claim = await discrepancyOf(scene, 'receipt_of_another', payment);
      await resolve(scene, claim, 'dismissed');
      return { payment, kind: 'second_success', as: 'returned' };
    },
    'a refund after a success, though a failure of another payment came since': async (scene) => {
      const payment = await acknowledged(await newPayout(database(), scene.merchant));
      const success = clear();
      await callBack(payment, success);
      await callBack(payment, failure, success);
      await callBack(payment, failed({ externalRef: 'GW-OTHER' }));
      return { payment, kind: 'failure_after_success', as: 'undo' };
    },
    'a failed collection that the merchant keeps, though a success of another payment came since':
      async (scene) => {
        const payment = await acknowledged(await newCollection(database(), scene.merchant));
        for (const each of [clear(), failure]) await callBack(payment, each);
        await callBack(payment, succeeded({ transId: newReceipt(), externalRef: 'GW-OTHER' }));
        return { payment, kind: 'failure_after_success', as: 'dismissed' };
      },
    'a failed collection that the merchant keeps, because a statement has older money': async (
      scene,
    ) => {
      const payment = await newCollection(database(), scene.merchant);
      const completedAt = new Date();
      await sleep(5);
      const body = JSON.stringify(failure);
      const id = await keepCallback(database(), payment.gateway, refOf(payment), body);
      const line = lineOf(payment, { transId: newReceipt(), completedAt });
      await runStatement(database(), [line], AROUND_NOW, { covers: [] });
      const stored = await findStoredCallback(database(), payment.merchant_id, id);
      if (stored) await processCallback(database(), stored, parserOf);
      return { payment, kind: 'failure_after_success', as: 'dismissed' };
    },
    'a second reversal after the gateway took one that has failed here': async (scene) => {
      const payment = await newReversal(database(), scene.merchant);
      const work = workOn(database(), payment);
      const claim = await work.claim();
      await learn(database(), payment, failure, 'poll');
      await work.answer(claim, ACKNOWLEDGED);
      return { payment, kind: 'taken_after_failure', as: 'failed' };
    },
    'late money to a customer who has it back, maybe under a receipt that a file has given': async (
      scene,
    ) => {
      const payment = await newCollection(database(), scene.merchant);
      await callBack(payment, failure);
      await learn(database(), payment, vague, 'poll');
      const line = lineOf(payment, { transId: newReceipt(), completedAt: new Date() });
      await runStatement(database(), [line], AROUND_NOW, { covers: [] }, 'file.csv');
      await callBack(payment, clear());
      return { payment, kind: 'second_success', as: 'returned' };
    },
    'a collection that the merchant keeps although an answer has failed it': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      await callBack(payment, clear());
      await learn(database(), payment, failure, 'poll');
      return { payment, kind: 'failure_after_success', as: 'dismissed' };
    },
    'a collection that the merchant keeps although the gateway has failed it': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      await callBack(payment, clear());
      await callBack(payment, failure);
      return { payment, kind: 'failure_after_success', as: 'dismissed' };
    },
    'a failure that the gateway has taken back': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      const success = clear();
      for (const each of [success, failure, success]) await callBack(payment, each);
      return { payment, kind: 'failure_after_success', as: 'dismissed' };
    },
    'the first payment of a customer who has paid again since it bounced': async (scene) => {
      const payment = await newCollection(database(), scene.merchant);
      for (const each of [clear(), failure, clear()]) await callBack(payment, each);
      return { payment, kind: 'failure_after_success', as: 'dismissed' };
    },
    'a refund, although the gateway told of a failure last': async (scene) => {
      const payment = await newPayout(database(), scene.merchant);
      for (const each of [clear(), failure]) await callBack(payment, each);
      return { payment, kind: 'failure_after_success', as: 'undo' };
    },
    'a collection of which an answer that was asked for after the failure tells again': async (
      scene,
    ) => {
      const payment = await newCollection(database(), scene.merchant);
      const success = clear();
      for (const each of [success, failure]) await callBack(payment, each);
      await learn(database(), payment, success, 'poll');
      return { payment, kind: 'failure_after_success', as: 'undo' };
    },
    'the parts of a payout that failed after them': async (scene) => {
      const payment = await newPayout(database(), scene.merchant);
      const [first, second] = [newReceipt(), newReceipt()];
      const before = new Date(Date.now() - 60_000);
      await learn(database(), payment, failure, 'callback');
      const parts = [
        lineOf(payment, { transId: first, amountCents: 6_000, completedAt: before }),
        lineOf(payment, {
          ...{ transId: second, amountCents: payment.amount_cents - 6_000 },
          completedAt: before,
        }),
      ];
      await runStatement(database(), parts, AROUND_NOW, { covers: [] });
      const transId = `${first} ${second}`;
      return { payment, kind: 'other_amount', as: 'parts', transId };
    },
  };

  it('need no other person for late money that the gateway has confirmed since a file told of it', async () => {
    const scene = { database: database(), merchant: await newMerchant() };
    const payment = await newCollection(database(), scene.merchant);
    await callBack(payment, failure);
    const transId = newReceipt();
    const line = lineOf(payment, { transId, completedAt: new Date() });
    await runStatement(database(), [line], AROUND_NOW, { covers: [] }, 'file.csv');
    const { id } = await discrepancyOf(scene, 'paid_after_failure', payment);
    await learn(database(), payment, succeeded({ transId, externalRef: null }), 'poll');
    expect((await decide(id, await doors.newAdmin(), 'returned')).approval).to.equal(undefined);
  });

  it('need another person to complete a collection with a line that fits another one as well', async () => {
    const scene = { database: database(), merchant: await newMerchant() };
    const like = { payfrom: '+254722000777', amount_cents: 3_100 };
    const other = await newCollection(database(), await newMerchant(), like);
    const payment = await newCollection(database(), scene.merchant, like);
    for (const each of [other, payment]) await makeOverdue(scene, each);
    const transId = newReceipt();
    const line = lineOf(payment, { reference: null, transId, completedAt: new Date() });
    await runStatement(database(), [line], AROUND_NOW, { covers: [] });
    const { id } = await discrepancyOf(scene, 'overdue', payment);
    const asked = ['discrepancy', 'resolve', id, '--as', 'completed', '--trans-id', transId];
    const done = await doors.run([...asked, '--json'], await doors.newAdmin());
    expect(JSON.parse(done.stdout).why).to.include('Neither a statement nor the gateway proves');
    // The other one has its own receipt by now.
    await callBack(other, clear());
    const again = await doors.run([...asked, '--json'], await doors.newAdmin());
    expect(JSON.parse(again.stdout).resolution).to.equal('completed');
  });

  for (const [what, makeWrong] of Object.entries({ ...GIVEN, ...AGAINST_A_WORD })) {
    it(`need another person for ${what}`, async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const { payment, kind, as, transId } = await makeWrong(scene);
      const { id } = await discrepancyOf(scene, kind, payment);
      const asked = await decide(id, await doors.newAdmin(), as, transId);
      expect(asked.why).to.match(
        /on the word of a person|The gateway has (told o|failed)|booked twice|Both a success/,
      );
    });
  }

  for (const [kind, told] of [
    ['other_account', { account: '+254722000111' }],
    ['other_amount', { amountCents: 20_000 }],
  ] as const) {
    it(`need another person to undo a payment because a file has told an ${kind}`, async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const collection = await newCollection(database(), scene.merchant);
      await hear(scene, collection, succeeded());
      const line = lineOf(collection, { transId: receiptOf(collection), ...told });
      await runStatement(database(), [line], SO_FAR, {}, 'file.csv');
      const { id } = await discrepancyOf(scene, kind, collection);
      const asked = await decide(id, await doors.newAdmin(), 'undo');
      expect(asked.why).to.include('The gateway has told otherwise of this money, too.');
    });
  }

  for (const [kind, as, told] of [
    ['other_account', 'completed', { account: '+254722000111' }],
    ['other_amount', 'accept-amount', { amountCents: 12_000 }],
  ] as const) {
    it(`need another person to believe the ${kind} of a payout that a file has told`, async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const payout = await newPayout(database(), scene.merchant);
      await topUpPayoutWallet(database(), scene.merchant.merchant_id, 10_000, 'more');
      const line = lineOf(payout, { transId: newReceipt(), ...told });
      await runStatement(database(), [line], SO_FAR, { covers: [] }, 'file.csv');
      const { id } = await discrepancyOf(scene, kind, payout);
      const asked = await decide(id, await doors.newAdmin(), as);
      expect(asked.why).to.include('Nothing but a file has told this amount or account.');
    });
  }
});
