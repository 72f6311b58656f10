import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { auditedFor, MAX_LOOK_UPS_PER_MINUTE } from '../../src/domain/audit/audit.ts';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { DECIDED_ALONE } from '../../src/domain/support/decide-alone.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { rewrite } from '../support/database.ts';
import { newCollection, rejection } from '../support/payments.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { type Doors, openDoors, REASON } from './doors.ts';

describe('What members read', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors({ CHANNELS: '63902=simulator' });
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  it('is counted in a list for one payment as in a search', async () => {
    const lists = [
      ['webhooks', 'list'],
      ['jobs', 'list'],
    ];
    const ask = (n: number) =>
      doors.read([...lists[n % 2]!, '--payment', `+2547${10_000_000 + n}`], doors.support);
    for (let count = 0; count < MAX_LOOK_UPS_PER_MINUTE; count += 1) {
      expect((await ask(count)).stderr).to.not.include('wait a minute');
    }
    for (const n of [1_000, 1_001]) expect((await ask(n)).stderr).to.include('wait a minute');
    expect((await doors.read(['webhooks', 'list'], doors.support)).stderr).to.equal('');
  });

  it('is counted in a question about a payment as in a search', async () => {
    const operator = { actor: 'hasty@x.example', action: 'payment.ask', reason: REASON };
    const audited = auditedFor(database(), operator);
    const ask = () =>
      audited(async () => ({
        value: null,
        audit: { merchant_id: null, subject: 'payment', details: {} },
      }));
    for (let count = 0; count < MAX_LOOK_UPS_PER_MINUTE; count += 1) await ask();
    expect((await rejection(ask())).message).to.include('wait a minute');
  });

  it('is counted, and named in the audit log, in a decision that is only tried', async () => {
    const merchant = await createTestMerchant(doors.test.service);
    const collection = await newCollection(database(), merchant);
    await rewrite(
      database(),
      `UPDATE collections SET deadline_at = now() - interval '1 second'
       WHERE merchant_id = :merchant_id AND id = :id`,
      collection,
    );
    await openOverdue(database());
    const [overdue] = await casesOf(database(), refOf(collection));
    const member = await doors.newAdmin();
    const browser = await doors.browserOf(member);
    const page = `/discrepancies/${overdue!.id}/decide?as=completed&trans_id=`;
    for (let count = 0; count < MAX_LOOK_UPS_PER_MINUTE; count += 1) {
      expect((await browser.get(`${page}GUESS${count}`)).text).to.not.include('wait a minute');
    }
    expect((await browser.get(`${page}LAST`)).text).to.include('wait a minute');
    const tried = await rows(
      database(),
      `SELECT FROM audit_log WHERE actor = :email AND action = 'discrepancy.resolve'
         AND details->>'trans_id' = 'GUESS7'`,
      member,
    );
    expect(tried).to.have.length(1);
  });

  it('is never taken for a decision, whatever somebody types into an address', async () => {
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const browser = await doors.browserOf(doors.viewer);
    for (const typed of ['-99000000', 'x']) {
      const query = `merchant=${merchant_id}&stake_cents=${typed}&phone_hash=${typed}`;
      for (const page of ['failed-jobs', 'discrepancies']) {
        expect((await browser.get(`/${page}?${query}`)).status).to.equal(200);
      }
    }
    const stakes = await rows<{ actor: string }>(database(), DECIDED_ALONE);
    expect(stakes.filter(({ actor }) => actor === doors.viewer.email)).to.deep.equal([]);
  });

  it('is in the audit log without the one-time password that was refused', async () => {
    const { status } = await doors.run(['staff', 'confirm-totp', '123456'], doors.viewer);
    expect(status).to.equal(1);
    const [line, ...others] = await rows<{ subject: string; details: object }>(
      database(),
      `SELECT subject, details FROM audit_log WHERE action = 'staff.confirm-totp'`,
    );
    expect(others).to.deep.equal([]);
    expect([line!.subject, JSON.stringify(line!.details)]).to.deep.equal(['staff', '{"rows":0}']);
  });

  it('has no phone that a merchant wrote into a reference, in what will happen either', async () => {
    const merchant = await createTestMerchant(doors.test.service);
    const ref_no = '0712345678';
    const collection = await newCollection(database(), merchant, { ref_no });
    await rewrite(
      database(),
      `UPDATE collections SET deadline_at = now() - interval '1 minute' WHERE id = :id`,
      collection,
    );
    await openOverdue(database());
    const [overdue] = await casesOf(database(), refOf(collection));
    const path = `/discrepancies/${overdue!.id}/decide?as=completed`;
    const { viewer } = doors;
    // Others have looked up too much in this minute.
    const support = await doors.newAdmin();
    const foreseen = await (await doors.browserOf(support)).get(path);
    expect(foreseen.text).to.include('It is about the collection').and.not.include(ref_no);
    const resolve = ['discrepancy', 'resolve', overdue!.id, '--as', 'completed', '--json'];
    const { approval } = JSON.parse((await doors.run(resolve, support)).stdout);
    const page = await (await doors.browserOf(viewer)).get(`/approvals/${approval}`);
    expect(page.text).to.include('It is about the collection').and.not.include(ref_no);
  });
});
