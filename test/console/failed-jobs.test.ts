import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { MAX_REPLAYS_ALONE } from '../../src/domain/support/bulk-replay.ts';
import {
  decideRequest,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
} from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { eventually } from '../support/eventually.ts';
import { failedPayout, failJob, startBulkReplays } from '../support/failed-jobs.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { newCollection, outboxOf } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('Failed jobs at the console', () => {
  let test: TestConsole;
  let merchant: TestMerchant;
  let browser: ConsoleClient;
  let email: string;
  let stopLoop: (() => Promise<void>) | null;

  before(async () => {
    test = await startTestConsole();
    const member = await newMember(test, 'support');
    email = member.email;
    browser = await logIn(test, member);
  });

  after(() => test.close());

  beforeEach(async () => {
    stopLoop = null;
    merchant = await createTestMerchant(test.service);
  });

  afterEach(async () => {
    await stopLoop?.();
    await rows(
      test.testDatabase.owner,
      `UPDATE bulk_replays SET state = 'stopped', why = 'test', ended_at = now() WHERE state = 'running'`,
    );
    await expectSoundLedger(test.service.database);
  });

  const newJob = () => failedPayout(test.service.database, merchant);
  const hidden = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name, value]) => [name!, value!],
      ),
    );

  /** Previews a replay. @returns the fields of its form. */
  async function preview(query: string) {
    const { text, status } = await browser.get(`/failed-jobs/replay?${query}`);
    expect(status, text).to.equal(200);
    const { _csrf, ...fields } = hidden(text.slice(text.indexOf('<main')));
    return { text, fields };
  }

  it('are listed by queue, error, merchant, channel, age and state', async () => {
    const collection = await newCollection(test.service.database, merchant);
    const job = await failJob(test.service.database, 'collection', collection.id, {
      ...{ queue: 'polling-x', error: '<i>Late</i> for +254712345678' },
    });
    const list = async (query: string) =>
      (await browser.get(`/failed-jobs?merchant=${merchant.merchant_id}&${query}`)).text;
    const isListed = async (query: string) => (await list(query)).includes(`job${job.id}"`);
    for (const query of ['', 'queue=polling-x', 'error=LATE', 'channel=63902', 'newer=1h']) {
      expect(await isListed(query), query).to.equal(true);
    }
    for (const query of ['queue=x', 'error=no', 'channel=63903', 'older=1h', 'state=replayed']) {
      expect(await isListed(query), query).to.equal(false);
    }
    const text = await list('');
    expect(text).to.include('&lt;i>Late').and.not.include('<i>').and.not.include('254712345678');
    expect(text).to.include(`/payments/collection/${merchant.merchant_id}/${collection.id}`);
    expect(await list('queue=x')).to.include('No failed job matches');
  });

  it('are replayed when they are selected, with what was foreseen', async () => {
    const [first, second, third] = [await newJob(), await newJob(), await newJob()];
    const { text, fields } = await preview(`job${first.job.id}=on&job${third.job.id}=on`);
    expect(text)
      .to.include('2 failed jobs')
      .and.include('2 (KES 200.00): no attempt has arrived, will send it');
    expect(await outboxOf(test.service.database, first.payout.id)).to.have.length(0);
    const begun = await browser.post('/failed-jobs/replay', {
      ...{ ...fields, rate: '20', reason: 'The bug is mended' },
    });
    expect([begun.status, begun.location]).to.deep.equal([303, `/bulk-replays/${fields.id}`]);
    const running = await browser.get(begun.location!);
    expect(running.text)
      .to.include('The bug is mended')
      .and.include('hx-get')
      .and.include('20 per');
    stopLoop = startBulkReplays(test.service.database);
    const ended = await eventually('the replay ends', async () => {
      const { text: part } = await browser.get(`${begun.location}/live`);
      return part.includes('>done<') ? part : null;
    });
    expect(ended).to.include('2 replayed, 0 refused').and.not.include('hx-get');
    for (const { payout, count } of [
      { ...first, count: 1 },
      { ...second, count: 0 },
      { ...third, count: 1 },
    ]) {
      expect(await outboxOf(test.service.database, payout.id)).to.have.length(count);
    }
    const lines = await rows<{ subject: string; reason: string }>(
      test.service.database,
      `SELECT subject, reason FROM audit_log
       WHERE actor = :email AND action = 'jobs.replay' AND reason IS NOT NULL
       ORDER BY happened_at, id`,
      { email },
    );
    expect(lines.map(({ subject }) => subject)).to.deep.equal([
      ...[`bulk replay ${fields.id}`, `failed job ${first.job.id}`, `failed job ${third.job.id}`],
    ]);
    const of = (await browser.get(`/failed-jobs?bulk=${fields.id}`)).text;
    expect(of).to.include(first.payout.id).and.not.include(second.payout.id);
    expect((await browser.get('/bulk-replays')).text).to.include(`/bulk-replays/${fields.id}`);
  });

  it('are replayed once when the form is sent twice', async () => {
    const { job } = await newJob();
    const { fields } = await preview(`job${job.id}=on`);
    const form = { ...fields, rate: '1', reason: 'Twice' };
    expect((await browser.post('/failed-jobs/replay', form)).status).to.equal(303);
    const again = await browser.post('/failed-jobs/replay', form);
    expect([again.status, /has begun already/.test(again.text)]).to.deep.equal([422, true]);
  });

  it('are stopped with a reason, and nothing more is replayed', async () => {
    const { job, payout } = await newJob();
    const { fields } = await preview(`job${job.id}=on`);
    const { location } = await browser.post('/failed-jobs/replay', {
      ...{ ...fields, rate: '1', reason: 'Mended' },
    });
    await browser.get(location!);
    const stopped = await browser.post(`${location}/stop`, { reason: 'Not mended' });
    expect([stopped.status, stopped.location]).to.deep.equal([303, location]);
    expect((await browser.get(location!)).text).to.include(`${email} has stopped it`);
    const again = await browser.post(`${location}/stop`, { reason: 'Not mended' });
    expect([again.status, again.text.includes('has ended already')]).to.deep.equal([422, true]);
    expect(await outboxOf(test.service.database, payout.id)).to.have.length(0);
  });

  it('wait for a second person when there are too many, and mean the same jobs then', async () => {
    for (let made = 0; made < MAX_REPLAYS_ALONE + 1; made++) await newJob();
    const { text, fields } = await preview(`all=yes&merchant=${merchant.merchant_id}`);
    expect(text).to.include('101 failed jobs').and.include('somebody else must approve');
    const later = await newJob();
    const hasty = { ...fields, rate: '5000', reason: 'All of them' };
    const refused = await browser.post('/failed-jobs/replay', hasty);
    expect([refused.status, /Jobs per second must be/.test(refused.text)]).to.deep.equal([
      422,
      true,
    ]);
    const asked = await browser.post('/failed-jobs/replay', {
      ...{ ...fields, rate: '100', reason: 'All of them' },
    });
    expect(asked.location).to.match(/^\/approvals\//);
    expect((await browser.get(`/bulk-replays/${fields.id}`)).status).to.equal(404);
    const second = await newMember(test, 'support');
    const other = await logIn(test, second);
    const page = await other.get(asked.location!);
    expect(page.text).to.include('101 failed jobs').and.include('All of them');
    await decideRequest(test, other, asked.location!, { as: 'approved', reason: 'Yes' });
    stopLoop = startBulkReplays(test.service.database);
    const ended = await eventually('the replay ends', async () => {
      const { text: part } = await browser.get(`/bulk-replays/${fields.id}/live`);
      return part.includes('>done<') ? part : null;
    });
    expect(ended).to.include('101 replayed');
    expect(await outboxOf(test.service.database, later.payout.id)).to.have.length(0);
    expect((await browser.get(`/bulk-replays/${fields.id}`)).text).to.include(
      `approved by ${second.email}`,
    );
  });

  it('change nothing without a job, or a rate within bounds', async () => {
    const { job } = await newJob();
    const { fields } = await preview(`job${job.id}=on`);
    const wrong: [Record<string, string>, RegExp][] = [
      [{ ...fields, rate: '101', reason: 'Why' }, /Jobs per second must be/],
      [{ ...fields, rate: '0', reason: 'Why' }, /Jobs per second must be/],
      [{ reason: 'Why' }, /Select at least one/],
    ];
    for (const [form, words] of wrong) {
      const { status, text } = await browser.post('/failed-jobs/replay', form);
      expect([status, words.test(text)], JSON.stringify(form)).to.deep.equal([422, true]);
    }
    const unknown = await browser.post('/failed-jobs/replay', {
      job999999999: 'on',
      reason: 'Why',
    });
    expect([unknown.status, unknown.text.includes('no failed job 999999999')]).to.deep.equal([
      404,
      true,
    ]);
    for (const filter of ['merchant=x', 'channel=x', 'older=2 days', 'newer=x']) {
      // A filter that cannot be read must not mean all jobs.
      for (const path of ['/failed-jobs?', '/failed-jobs/replay?all=yes&']) {
        expect((await browser.get(`${path}${filter}`)).status, filter).to.equal(400);
      }
    }
    const none = await browser.get('/failed-jobs/replay?all=yes&merchant=1');
    expect(none.text).to.include('No job matches').and.not.include('name="reason"');
  });

  it('are not selected by a filter that cannot be read', async () => {
    const { job } = await newJob();
    const { fields } = await preview(`job${job.id}=on`);
    for (const wrong of ['merchant=10O1', 'channel=63902x', 'older=2h', 'newer=x', 'merchant=-1']) {
      for (const path of ['/failed-jobs', '/failed-jobs/replay']) {
        expect((await browser.get(`${path}?all=yes&${wrong}`)).status, wrong).to.equal(400);
      }
      const form = { ...Object.fromEntries(new URLSearchParams(wrong)), all: 'yes', rate: '1' };
      const { status } = await browser.post('/failed-jobs/replay', { ...form, reason: 'Typo' });
      expect(status, wrong).to.equal(400);
    }
    expect((await browser.get(`/bulk-replays/${fields.id}`)).status).to.equal(404);
  });

  it('are those of the preview, whatever a form made by hand says', async () => {
    await newJob();
    const { fields } = await preview(`all=yes&merchant=${merchant.merchant_id}`);
    const reach = { last_job: '999999999', as_of: '2999-01-01T00:00:00Z' };
    const { location } = await browser.post('/failed-jobs/replay', {
      ...{ ...fields, ...reach, rate: '1', reason: 'All that will ever fail' },
    });
    const later = await newJob();
    stopLoop = startBulkReplays(test.service.database);
    await eventually('the replay ends', async () =>
      (await browser.get(`${location}/live`)).text.includes('>done<'),
    );
    expect(await outboxOf(test.service.database, later.payout.id)).to.have.length(0);
  });

  it('offer a viewer no replay', async () => {
    await newJob();
    const viewer = await logIn(test, await newMember(test, 'viewer'));
    const { text } = await viewer.get(`/failed-jobs?merchant=${merchant.merchant_id}`);
    expect(text).to.include('bug').and.not.include('type="checkbox"');
    expect((await viewer.get('/failed-jobs?error=25471')).status).to.equal(422);
    expect((await viewer.get('/failed-jobs?error=bug')).status).to.equal(200);
  });

  it('are found by a viewer by no part of a word that is hidden', async () => {
    const error = 'no answer for wanjiru@duka.example';
    const { id } = await newPayout(test.service.database, merchant);
    await failJob(test.service.database, 'payout', id, { error });
    const viewer = await logIn(test, await newMember(test, 'viewer'));
    const finds = async (who: typeof viewer, part: string) =>
      /no answer for/.test((await who.get(`/failed-jobs?error=${encodeURIComponent(part)}`)).text);
    expect(await finds(viewer, 'NO ANSWER')).to.equal(true);
    expect(await finds(viewer, 'for wan')).to.equal(false);
    expect(await finds(viewer, '@duka')).to.equal(false);
    expect(await finds(browser, 'for wan')).to.equal(true);
  });
});
