import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import { decideApproval } from '../../src/domain/staff/approvals.ts';
import { countApprovalsFor, expireApprovals } from '../../src/domain/staff/open-approvals.ts';
import { requireMember } from '../../src/domain/staff/staff.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import {
  decideRequest,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
} from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { rewrite } from '../support/database.ts';
import { discrepancyOf, makeOverdue, resolve } from '../support/discrepancies/scene.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { learn, newCollection, rejection, reread, succeeded } from '../support/payments.ts';
import { RESOLVING } from '../support/submissions.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { otpOf } from '../support/totp.ts';

const OTHER_AMOUNT_CENTS = 9_000;
/** A payout of these tests is larger. */
const LIMIT_CENTS = 5_000;

/** No operation is approved here that runs as it is. */
const OPTIONS = {
  ...RESOLVING,
  newAccessHoldMs: 0,
  doDeed: () => Promise.reject(new Error('no operation')),
};

describe('Approvals at the console', () => {
  let own: TestConsole;
  let test: TestConsole;

  before(async () => {
    own = await startTestConsole();
    const config = { ...own.service.config, staffApprovalLimit: LIMIT_CENTS };
    test = await startTestConsole({ ...own.service, config, owner: own.testDatabase.owner });
  });

  after(async () => {
    await test.close();
    await own.close();
  });

  /** A large payout that support must decide about. */
  async function question() {
    const { database } = test.service;
    const scene = { database, merchant: await createTestMerchant(test.service) };
    const payout = await makeOverdue(scene, await newPayout(database, scene.merchant));
    return { scene, payout, found: await discrepancyOf(scene, 'overdue') };
  }

  /** Somebody asks to fail it. @returns the address of the request. */
  async function ask(
    browser: ConsoleClient,
    id: string,
    reason = 'The bank says no',
    as: Resolution = 'failed',
  ) {
    await browser.get(`/discrepancies/${id}/decide?as=${as}`);
    const answer = await browser.post(`/discrepancies/${id}/decide`, { as, reason });
    expect(answer.status, answer.text).to.equal(303);
    expect(answer.location).to.match(/^\/approvals\//);
    return answer.location!;
  }

  async function support() {
    const member = await newMember(test, 'support');
    return { member, browser: await logIn(test, member) };
  }

  const memberOf = ({ member }: { member: { email: string } }) =>
    requireMember(test.service.database, member.email);

  const auditOf = (id: string) =>
    rows<{ actor: string; action: string; reason: string; details: Record<string, unknown> }>(
      test.service.database,
      `SELECT actor, action, reason, details FROM audit_log
       WHERE subject = :subject AND reason IS NOT NULL ORDER BY id`,
      { subject: `discrepancy ${id}` },
    );

  it('let a second person agree: then it is done, and the audit log has both names', async () => {
    const { payout, found } = await question();
    const [first, second] = [await support(), await support()];
    const preview = await first.browser.get(`/discrepancies/${found.id}/decide?as=failed`);
    expect(preview.text)
      .to.include('Somebody else must approve it')
      .and.include('Ask for approval');
    const path = await ask(first.browser, found.id);
    expect((await reread(test.service.database, payout)).status).to.equal('pending');
    const { kind, merchant_id, id } = payout;
    const paymentPage = await second.browser.get(`/payments/${kind}/${merchant_id}/${id}`);
    expect(paymentPage.text).to.include(`${first.member.email} has asked for a decision`);
    const list = await second.browser.get('/approvals');
    expect(list.text).to.include(path).and.include('The bank says no').and.include('KES 100.00');
    const page = await second.browser.get(path);
    expect(page.text).to.include('The payment goes from pending to failed.');
    const done = await decideRequest(test, second.browser, path, {
      as: 'approved',
      reason: 'I asked them too',
    });
    expect([done.status, done.location]).to.deep.equal([303, path]);
    expect((await reread(test.service.database, payout)).status).to.equal('failed');
    const lines = await auditOf(found.id);
    expect(lines.map(({ actor, action, reason }) => [actor, action, reason])).to.deep.equal([
      [first.member.email, 'approval.request', 'The bank says no'],
      [first.member.email, 'discrepancy.resolve', 'The bank says no'],
      [second.member.email, 'approval.approve', 'I asked them too'],
    ]);
    expect(lines[1]!.details.approved_by).to.equal(second.member.email);
    expect(lines[2]!.details.requested_by).to.equal(first.member.email);
    const history = await first.browser.get('/approvals');
    expect(history.text).to.include(path).and.include('approved');
    await expectSoundLedger(test.service.database);
  });

  it('are not given by whoever asks, by a viewer, without a reason, or twice', async () => {
    const { payout, found } = await question();
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id);
    const own = await first.browser.get(path);
    expect(own.text).to.include('Withdraw the request').and.not.include('value="approved"');
    const decision = { as: 'approved', reason: 'Me' };
    const selfish = await decideRequest(test, first.browser, path, decision);
    expect([selfish.status, /asked for this yourself/.test(selfish.text)]).to.deep.equal([
      422,
      true,
    ]);
    const viewer = await logIn(test, await newMember(test, 'viewer'));
    expect((await viewer.get(path)).text).to.include('Your role cannot decide');
    expect((await viewer.post(path, { as: 'approved', reason: 'Me' })).status).to.equal(403);
    await second.browser.get(path);
    const silent = await decideRequest(test, second.browser, path, { as: 'approved', reason: '' });
    expect([silent.status, silent.text.includes('Give a reason')]).to.deep.equal([422, true]);
    const mute = await second.browser.post(path, { reason: 'Well' });
    expect([mute.status, mute.text.includes('approve or reject')]).to.deep.equal([422, true]);
    expect((await reread(test.service.database, payout)).status).to.equal('pending');
    await decideRequest(test, second.browser, path, { as: 'approved', reason: 'Yes' });
    const again = await decideRequest(test, second.browser, path, {
      as: 'approved',
      reason: 'Yes',
    });
    expect([again.status, /has decided already/.test(again.text)]).to.deep.equal([422, true]);
    expect(await auditOf(found.id)).to.have.length(3);
  });

  it('are refused by a second person, or withdrawn by the first: then nothing is done', async () => {
    const { payout, found } = await question();
    const [first, second] = [await support(), await support()];
    for (const [{ browser }, as] of [
      [second, 'rejected'],
      [first, 'withdrawn'],
    ] as const) {
      const path = await ask(first.browser, found.id);
      await browser.get(path);
      expect((await browser.post(path, { as, reason: 'Not now' })).status).to.equal(303);
      expect((await browser.get(path)).text)
        .to.include(as)
        .and.include('Nothing is left to do');
    }
    const path = await ask(first.browser, found.id);
    await second.browser.get(path);
    const other = await second.browser.post(path, { as: 'withdrawn', reason: 'Not mine' });
    expect([other.status, /reject it instead/.test(other.text)]).to.deep.equal([422, true]);
    expect((await reread(test.service.database, payout)).status).to.equal('pending');
  });

  it('are asked for once, however often the form is sent', async () => {
    const { found } = await question();
    const [first, second] = [await support(), await support()];
    await ask(first.browser, found.id);
    const page = await second.browser.get(`/discrepancies/${found.id}`);
    expect(page.text).to.include('waits for a second person').and.not.include('See what will');
    await second.browser.get(`/discrepancies/${found.id}/decide?as=failed`);
    const again = await second.browser.post(`/discrepancies/${found.id}/decide`, {
      ...{ as: 'failed', reason: 'Me too' },
    });
    expect([again.status, /asked for this already/.test(again.text)]).to.deep.equal([422, true]);
  });

  it('are given once when two decide at the same time', async () => {
    const { found } = await question();
    const members = [await support(), await support(), await support()];
    const path = await ask(members[0]!.browser, found.id);
    const id = path.split('/').at(-1)!;
    const decide = (by: string) =>
      inTransaction(test.service.database, (trx) =>
        decideApproval(trx, id, { as: 'approved', by, reason: 'Yes' }, OPTIONS),
      );
    const ends = await Promise.allSettled(
      members.slice(1).map(({ member }) => decide(member.email)),
    );
    expect(ends.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    await expectSoundLedger(test.service.database);
  });

  it('are not given by somebody who has lost access or role', async () => {
    const { found } = await question();
    const first = await support();
    const id = (await ask(first.browser, found.id)).split('/').at(-1)!;
    const gone = await newMember(test, 'support');
    const viewer = await newMember(test, 'viewer');
    await rows(test.service.database, 'UPDATE staff SET active = false WHERE id = :id', gone);
    for (const { email: by } of [gone, viewer]) {
      const refused = await rejection(
        inTransaction(test.service.database, (trx) =>
          decideApproval(trx, id, { as: 'approved', by, reason: 'Yes' }, OPTIONS),
        ),
      );
      expect(refused).to.be.instanceOf(OperatorRefusal);
      expect(refused.message).to.include('active member with the role support');
    }
  });

  it('do nothing for somebody who has asked and lost access or role since', async () => {
    for (const loss of [`active = false`, `role = 'viewer'`]) {
      const { payout, found } = await question();
      const [first, second] = [await support(), await support()];
      const path = await ask(first.browser, found.id);
      const { id } = first.member;
      await rows(test.service.database, `UPDATE staff SET ${loss} WHERE id = :id`, { id });
      await second.browser.get(path);
      const late = await decideRequest(test, second.browser, path, {
        as: 'approved',
        reason: 'Yes',
      });
      expect([late.status, /may not do this any more/.test(late.text)]).to.deep.equal([422, true]);
      expect((await reread(test.service.database, payout)).status).to.equal('pending');
      const rejected = await second.browser.post(path, { as: 'rejected', reason: 'Gone' });
      expect(rejected.status).to.equal(303);
    }
  });

  it('do nothing when the world has changed since, and the request stays open', async () => {
    const { scene, found } = await question();
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id);
    await resolve(scene, found, 'failed');
    await second.browser.get(path);
    const late = await decideRequest(test, second.browser, path, { as: 'approved', reason: 'Yes' });
    expect([late.status, /resolved already/.test(late.text)]).to.deep.equal([422, true]);
    expect((await second.browser.get('/approvals')).text).to.include(path);
    expect((await auditOf(found.id)).map(({ action }) => action)).to.deep.equal([
      'approval.request',
    ]);
    const rejected = await second.browser.post(path, { as: 'rejected', reason: 'Too late' });
    expect(rejected.status).to.equal(303);
  });

  it('do nothing when the facts are others than the first person saw', async () => {
    const { payout, found } = await question();
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id);
    await rows(
      test.testDatabase.owner,
      `UPDATE discrepancies SET evidence = evidence || evidence WHERE id = :id`,
      found,
    );
    await second.browser.get(path);
    const late = await decideRequest(test, second.browser, path, { as: 'approved', reason: 'Yes' });
    expect([late.status, /changed since/.test(late.text)]).to.deep.equal([422, true]);
    expect((await reread(test.service.database, payout)).status).to.equal('pending');
  });

  it('book nothing that was not previewed, such as another commission than the first person saw', async () => {
    const { database } = test.service;
    const scene = { database, merchant: await createTestMerchant(test.service) };
    const collection = await newCollection(database, scene.merchant);
    await learn(database, collection, succeeded({ amountCents: OTHER_AMOUNT_CENTS }));
    const found = await discrepancyOf(scene, 'other_amount');
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id, 'It is what came', 'accept-amount');
    const setRate = (bps: number | null) =>
      rows(database, 'UPDATE merchants SET commission_bps = :bps WHERE id = :merchant_id', {
        ...scene.merchant,
        bps,
      });
    await setRate(5_000);
    await second.browser.get(path);
    const late = await decideRequest(test, second.browser, path, { as: 'approved', reason: 'Yes' });
    expect([late.status, /would be booked has changed/.test(late.text)]).to.deep.equal([422, true]);
    expect((await reread(database, collection)).status).to.equal('pending');
    await setRate(null);
    const done = await decideRequest(test, second.browser, path, {
      as: 'approved',
      reason: 'As previewed',
    });
    expect(done.status).to.equal(303);
    expect((await reread(database, collection)).status).to.equal('completed');
    await expectSoundLedger(database);
  });

  it('are needed for everything with a limit of zero, and escape what people write', async () => {
    const config = { ...own.service.config, staffApprovalLimit: 0 };
    const strict = await startTestConsole({
      ...own.service,
      config,
      owner: own.testDatabase.owner,
    });
    const { found } = await question();
    const browser = await logIn(strict, await newMember(strict, 'support'));
    const path = await ask(browser, found.id, '<b>now</b>');
    expect((await browser.get(path)).text)
      .to.include('&lt;b>now')
      .and.not.include('<b>now');
    await strict.close();
  });

  it('need a one-time password for each, and are counted in the menu of whoever may decide', async () => {
    const { payout, found } = await question();
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id);
    const waiting = await countApprovalsFor(test.service.database, await memberOf(second));
    const overview = (await second.browser.get('/')).text;
    expect(overview).to.include(`Approvals (${waiting})`);
    expect(overview).to.match(new RegExp(`${waiting} requests? that you may decide about`));
    const own = await countApprovalsFor(test.service.database, await memberOf(first));
    expect(waiting).to.equal(own + 1);
    await second.browser.get(path);
    // That of the log-in counts for no decision.
    const stale = await second.browser.post(path, { as: 'approved', reason: 'Yes' });
    expect([
      stale.status,
      /one-time password that you have not used/.test(stale.text),
    ]).to.deep.equal([422, true]);
    await rewrite(
      test.service.database,
      'UPDATE staff_totp_secrets SET last_step = extract(epoch FROM now()) / 30 + 1 WHERE staff_id = :id',
      second.member,
    );
    const used = { as: 'approved', reason: 'Yes', otp: otpOf(second.member.secret!) };
    expect((await second.browser.post(path, used)).status).to.equal(422);
    expect((await reread(test.service.database, payout)).status).to.equal('pending');
    const done = await decideRequest(test, second.browser, path, { as: 'approved', reason: 'Yes' });
    expect(done.status).to.equal(303);
  });

  it('need another person than one to whom the first has given access lately, or from whom', async () => {
    const { database } = test.service;
    for (const [giver, taker] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const { payout, found } = await question();
      const two = [await support(), await support()];
      const [first, second] = two as [(typeof two)[0], (typeof two)[0]];
      const path = await ask(first.browser, found.id);
      const [actor, member] = [two[giver]!.member.email, two[taker]!.member.email];
      await inTransaction(database, (trx) =>
        recordAudit(trx, {
          ...{ actor, action: 'staff.reset-totp', merchant_id: null, reason: 'The app is lost' },
          ...{ subject: `staff member ${member}`, details: {} },
        }),
      );
      const decision = { as: 'approved', reason: 'Yes' };
      const refused = await decideRequest(test, second.browser, path, decision);
      expect([refused.status, /are not two people/.test(refused.text)]).to.deep.equal([422, true]);
      expect((await reread(database, payout)).status).to.equal('pending');
      const third = await support();
      const done = await decideRequest(test, third.browser, path, decision);
      expect(done.status).to.equal(303);
    }
  });

  it('expire after three days: then nobody can agree, and the same may be asked anew', async () => {
    const { payout, found } = await question();
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id);
    const { database } = test.service;
    const id = path.split('/').at(-1)!;
    await rewrite(
      database,
      `UPDATE approvals SET requested_at = requested_at - interval '73 hours' WHERE id = :id`,
      { id },
    );
    const decision = { as: 'approved', reason: 'Yes' };
    const late = await decideRequest(test, second.browser, path, decision);
    expect([late.status, /older than 3 days/.test(late.text)]).to.deep.equal([422, true]);
    expect(await Promise.all([1, 2].map(() => expireApprovals(database)))).to.have.members([0, 1]);
    expect((await second.browser.get('/approvals')).text).to.include('expired');
    expect((await reread(database, payout)).status).to.equal('pending');
    const lines = await auditOf(found.id);
    expect(lines.map(({ actor, action }) => [actor, action])).to.deep.equal([
      [first.member.email, 'approval.request'],
      ['schedule', 'approval.expire'],
    ]);
    const again = await ask(first.browser, found.id);
    expect((await decideRequest(test, second.browser, again, decision)).status).to.equal(303);
  });

  it('are kept as they were decided, also from the service itself', async () => {
    const { found } = await question();
    const [first, second] = [await support(), await support()];
    const path = await ask(first.browser, found.id);
    const id = path.split('/').at(-1)!;
    const { database, owner } = test.testDatabase;
    const asked = `UPDATE approvals SET payload = '{}' WHERE id = :id`;
    expect((await rejection(rows(owner, asked, { id }))).message).to.include('is refused');
    const own = `UPDATE approvals SET decision = 'approved', decided_at = now(),
      decided_by = requested_by, decision_reason = 'x' WHERE id = :id`;
    expect((await rejection(rows(database, own, { id }))).message).to.include('check constraint');
    await second.browser.get(path);
    await second.browser.post(path, { as: 'rejected', reason: 'No' });
    const change = `UPDATE approvals SET decision_reason = 'other' WHERE id = :id`;
    expect((await rejection(rows(owner, change, { id }))).message).to.include('is refused');
  });

  it('have pages that say what to do where there is nothing', async () => {
    const { browser } = await support();
    const missing = await browser.get('/approvals/01890000-0000-7000-8000-000000000000');
    expect([missing.status, (await browser.get('/approvals/x')).status]).to.deep.equal([404, 404]);
  });
});
