import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { pausedChannels } from '../../src/domain/channels/channel-store.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import {
  SKIPPED_DIRECTORY_NUMBERS,
  SKIPPED_EVENT_NUMBERS,
  skipDirectoryNumbers,
  skipEventNumbers,
} from '../../src/domain/upkeep/restore.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { loadConfig } from '../../src/service/service.ts';
import { HOUR_MS } from '../../src/time.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { newEvent } from '../support/events.ts';
import { newPayment, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import { countOf } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const CHANNELS = '63902=simulator,63903=simulator';
const PAUSED = { env: { CHANNELS, SUBMISSION_PAUSED: 'true' } };

describe('admin restore', () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    const merchant = await createTestMerchant({ database: admin.database, config });
    for (const kind of PAYMENT_KINDS) await newPayment(kind, admin.database, merchant);
  });

  after(() => admin.close());

  const auditsOf = async (action: string) =>
    (await admin.audits()).filter((audit) => audit.action === action);

  /** Makes this database another one than before, which was marked. @returns the one before. */
  async function pretendMoved(): Promise<string> {
    const before = 'system 1, timeline 00000001, database 1';
    await rows(admin.database, 'UPDATE installation SET seen_on = :before, marked_on = :before', {
      before,
    });
    return before;
  }

  /** Has each open payment as if its gateway had been asked. */
  async function pretendAsked(): Promise<void> {
    for (const kind of PAYMENT_KINDS) {
      await rows(
        admin.database,
        `UPDATE ${kind}s SET step_no = step_no + 1, next_step_at = now() + interval '1 minute'
         WHERE next_step = 'poll'`,
      );
    }
  }

  it('says that nothing is sent on a database that is not the one before, and resumes it once', async () => {
    const before = await pretendMoved();
    const words = `Nothing is sent, because PostgreSQL was restored, has failed over or was moved: it was ${before}, now it is system`;
    expect((await admin.run('restore status')).stderr).to.include(words);
    const { status, stdout } = await admin.run('queues status --json');
    const { problems, submissions_paused } = JSON.parse(stdout) as Record<string, object>;
    expect(status).to.equal(1);
    expect(submissions_paused).to.include({ before });
    expect((problems as string[])[0]).to.include(words);
    const resumed = await admin.changeJson('restore resume --nothing-lost');
    expect(resumed).to.include({ changed: true, before });
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'restore.resume',
      merchant_id: null,
      subject: 'submissions',
      details: { before, now: resumed.now, is_marked: false, nothing_lost: true },
    });
    const again = await admin.unchanged(() => admin.change('restore resume'));
    expect(again).to.equal('Payments go out here already: nothing was changed\n');
    expect((await admin.run('restore status')).stderr).to.not.include('Nothing is sent');
  });

  it('marks nothing while submissions go on', () =>
    admin.refused([['restore mark', 'SUBMISSION_PAUSED is not true']], { env: { CHANNELS } }));

  it('shows nothing before it has marked', async () => {
    const { status, stderr } = await admin.run('restore status');
    expect([status, stderr]).to.deep.equal([
      1,
      'No payments were marked yet: restore mark comes first\n',
    ]);
  });

  it('lets event numbers go on above all that may have been given, also the first of a merchant', async () => {
    const { database } = admin;
    const config = loadConfig({ DATABASE_URL: admin.url });
    const withNumbers = await createTestMerchant({ database, config });
    const withoutNumbers = await createTestMerchant({ database, config });
    const numberedNext = async (merchant: TestMerchant) => {
      const id = await newEvent(database, merchant);
      await prepareDeliveries(database, 0);
      const [event] = await rows<{ sequence: number }>(
        database,
        'SELECT sequence FROM events WHERE id = :id',
        { id },
      );
      return event!.sequence;
    };
    expect(await numberedNext(withNumbers)).to.equal(1);
    const skipped = await inTransaction(database, skipEventNumbers);
    expect(skipped).to.equal(await countOf(database, 'merchants'));
    expect(await numberedNext(withNumbers)).to.equal(SKIPPED_EVENT_NUMBERS + 2);
    expect(await numberedNext(withoutNumbers)).to.equal(SKIPPED_EVENT_NUMBERS + 1);
    await inTransaction(database, skipEventNumbers);
    expect(await numberedNext(withoutNumbers)).to.equal(2 * SKIPPED_EVENT_NUMBERS + 2);
    const afterRestore = await createTestMerchant({ database, config });
    expect(await numberedNext(afterRestore), 'of a merchant made since').to.equal(1);
  });

  it('lets the numbers of merchants and apps go on above all that may have been given', async () => {
    const { database } = admin;
    const numbers = async () => {
      const { merchant_id, app_code } = await createTestMerchant({
        database,
        config: loadConfig({ DATABASE_URL: admin.url }),
      });
      return { merchant_id, app_code };
    };
    const before = await numbers();
    await inTransaction(database, skipDirectoryNumbers);
    const after = await numbers();
    for (const each of ['merchant_id', 'app_code'] as const) {
      expect(after[each] - before[each], each).to.be.above(SKIPPED_DIRECTORY_NUMBERS);
    }
  });

  it('marks all that is open, pauses what can be paid through, and writes both down', async () => {
    await admin.changeJson('channel pause --channel 63902');
    const answer = await admin.changeJson('restore mark', PAUSED);
    expect(answer).to.deep.equal({
      paused_channels: [63903],
      paused_before: [63902],
      payments: PAYMENT_KINDS.map((kind) => ({ kind, marked: 1, parked: 0 })),
    });
    expect([...(await pausedChannels(admin.database))]).to.have.members([63902, 63903]);
    const audits = await auditsOf('restore.mark');
    expect(audits.map(({ subject }) => subject)).to.deep.equal([
      'channel 63903',
      'numbers',
      ...PAYMENT_KINDS.map((kind) => `open ${kind}s`),
      'database',
    ]);
    const again = await admin.changeJson('restore mark', PAUSED);
    expect(again).to.deep.equal({
      ...answer,
      paused_channels: [],
      paused_before: [63902, 63903],
    });
    expect((await auditsOf('restore.mark')).length - audits.length).to.equal(
      2 + PAYMENT_KINDS.length,
    );
  });

  it('shows how many were not asked about, and fails until none is left', async () => {
    const { status, stdout } = await admin.run('restore status --json');
    expect(status).to.equal(1);
    const before = JSON.parse(stdout) as Document;
    expect(before).to.include({ unasked: 4, unexplained: 0 });
    await pretendAsked();
    await inTransaction(admin.database, (trx) =>
      openDiscrepancy(trx, {
        kind: 'unknown_movement',
        gateway: 'simulator',
        payment: null,
        trans_id: 'LOST1',
        details: {},
      }),
    );
    const after = await admin.json('restore status');
    expect(after).to.include({ unasked: 0, unexplained: 1 });
    expect(after.payments).to.deep.equal(
      PAYMENT_KINDS.map((kind) => ({
        kind,
        open: 1,
        unasked: 0,
        unanswered: 1,
        unsent: 0,
        parked: 0,
      })),
    );
    expect(await admin.text('restore status')).to.include('not asked about yet: 0');
  });

  it('resumes only a database that was marked since it became another one, unless nothing was lost', async () => {
    const refuse = () => admin.refused([['restore resume', 'restore mark has not marked']]);
    await pretendMoved();
    await refuse();
    expect((await admin.run('restore status')).stderr).to.include('restore mark comes first');
    await admin.change('restore mark');
    await pretendAsked();
    const env = { CHANNELS };
    const compared = (
      channel: number,
      daysAgo: number,
      source: string,
      covers: string,
      completeUntil: Date | null = null,
    ) =>
      rows(
        admin.database,
        `INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source, result,
           started_at, covers, complete_until)
         VALUES (gen_random_uuid(), 'simulator', :channel, now() - interval '9 days',
           now() - :daysAgo * interval '1 day', :source, '{}', now(), CAST(:covers AS text[]),
           :completeUntil)`,
        { channel, daysAgo, source, covers, completeUntil },
      );
    const needs = (channel: number) =>
      admin.refused(
        [['restore resume', `no statement of simulator for channel ${channel} compared since`]],
        { env },
      );
    await needs(63902);
    // Of the days before, or without a claim to have everything.
    await compared(63902, 2, 'gateway', '{payout}');
    await compared(63902, 0, 'gateway', '{}');
    await needs(63902);
    // A file of which nobody says until when it has everything, and one of the morning.
    await compared(63902, 0, 'payouts.csv', '{payout}');
    await compared(63902, 0, 'payouts.csv', '{payout}', new Date(Date.now() - HOUR_MS));
    await needs(63902);
    await compared(63902, 0, 'payouts.csv', '{payout}', new Date());
    // The account has had reversals, too. Each kind may have forgotten payments.
    await needs(63902);
    await compared(63902, 0, 'reversals.csv', '{reversal}', new Date());
    await needs(63903);
    await compared(63902, 0, 'gateway', '{collection}');
    await rows(admin.database, `UPDATE payouts SET next_step_at = now() - interval '1 hour'`);
    await admin.refused([['restore resume', '1 payment not asked about yet']], { env });
    await pretendAsked();
    await admin.change('restore resume', { env });
    expect(await admin.lastAudit()).to.deep.include({ action: 'restore.resume' });
    await pretendMoved();
    await refuse();
    await admin.change('restore resume --nothing-lost');
  });
});
