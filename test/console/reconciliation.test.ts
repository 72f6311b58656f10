import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { MAX_UPLOAD_BYTES } from '../../src/console/access/upload.ts';
import { MAX_UPLOAD_LINES } from '../../src/console/pages/statement-form.tsx';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import {
  freshOtp,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
} from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { eventually } from '../support/eventually.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { learn, reread, succeeded } from '../support/payments.ts';
import { SO_FAR } from '../support/so-far.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const HEAD = 'Our ref,Receipt No.,Phone,Paid,Time';
const FIELDS = {
  ...{ channel: '63902', ...SO_FAR, kind: 'payout' },
  columns: 'reference=Our ref,trans_id=Receipt No.,account=Phone,amount=Paid,completed_at=Time',
  ...{ utc_offset: '+03:00', reason: 'Daily' },
};
const EVIL = '<script>alert(1)</script>';

describe('The reconciliation of the console', () => {
  let test: TestConsole;
  let database: TestConsole['service']['database'];
  let merchant: TestMerchant;
  let viewer: ConsoleClient;
  let support: ConsoleClient;
  let colleague: ConsoleClient;

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    merchant = await createTestMerchant(test.service);
    viewer = await logIn(test, await newMember(test, 'viewer'));
    support = await logIn(test, await newMember(test, 'support'));
    await support.get('/reconciliation/new');
    colleague = await logIn(test, await newMember(test, 'support'));
    await colleague.get('/reconciliation');
  });

  after(async () => {
    await expectSoundLedger(database);
    await test.close();
  });

  const fileOf = (lines: string[], name = 'day.csv') =>
    new File([`${[HEAD, ...lines].join('\r\n')}\r\n`], name, { type: 'text/csv' });
  const upload = (lines: string[], fields = {}, name?: string) =>
    support.postFile('/reconciliation/new', { ...FIELDS, ...fields, file: fileOf(lines, name) });
  const lineOf = (payout: Payout, receipt: string, amount = '100.00') =>
    `${payout.reference},${receipt},0712345678,${amount},20/11/2026 13:00:00`;
  /** Compares what another member has brought. */
  const agree = async (browser: ConsoleClient, location: string, reason: string) =>
    browser.post(`${location}/run`, { reason, otp: await freshOtp(test, browser) });
  const audits = () =>
    rows<{ action: string; details: object }>(
      database,
      'SELECT action, details FROM audit_log WHERE reason IS NOT NULL ORDER BY id',
    );
  const ended = (path: string) =>
    eventually('the end of the comparison', async () => {
      const { text } = await viewer.get(path);
      return text.includes('Lines that match') && text;
    });

  it('says that no statement was imported yet, and shows the button to support alone', async () => {
    expect((await viewer.get('/reconciliation')).text)
      .to.include('Compare one every day')
      .and.not.include('/reconciliation/new');
    expect((await support.get('/reconciliation')).text).to.include('/reconciliation/new');
    expect((await viewer.get('/reconciliation/new')).status).to.equal(403);
  });

  it('says first what a file would do, and does it after a reason, once', async () => {
    const [open, other] = [
      await newPayout(database, merchant),
      await newPayout(database, merchant),
    ];
    const lines = [
      lineOf(open, 'SJK3ABCDE1'),
      lineOf(other, 'SJK3ABCDE2', '55.00'),
      ',SJK3ABCDE3,0712345678,"1,250.50",20/11/2026 13:00:01',
    ];
    const { status, location } = await upload(lines, {}, `${EVIL}.csv`);
    expect(status).to.equal(303);
    const draft = (await colleague.get(location!)).text;
    expect(draft).to.not.include(EVIL);
    for (const words of [
      ...['0 of 3 lines repeat', '1 name an open payment', '1 name a payment that has ended'],
      ...['1 name no payment', 'not compared yet', 'Compare and settle'],
    ]) {
      expect(draft.replace(/\s+/g, ' '), words).to.include(words);
    }
    expect((await viewer.get(location!)).text).to.not.include('Compare and settle');
    expect((await reread(database, open)).status).to.equal('pending');
    const none = await rows(database, 'SELECT 1 FROM discrepancies');
    expect([none.length, (await audits()).at(-1)!.action]).to.deep.equal([0, 'reconcile.check']);

    const run = `${location}/run`;
    expect((await viewer.post(run, { reason: 'x' })).status).to.equal(403);
    const nameless = await colleague.post(run, { otp: await freshOtp(test, colleague) });
    expect([nameless.status, nameless.text.includes('Give a reason')]).to.deep.equal([422, true]);
    expect((await agree(colleague, location!, 'Daily')).location).to.equal(location);
    const text = await ended(location!);
    expect(await reread(database, open)).to.include({
      ...{ status: 'completed', trans_id: 'SJK3ABCDE1' },
    });
    expect(text).to.include('SJK3ABCDE2').and.include(`/payments/payout/${other.merchant_id}/`);
    expect(text).to.include('SJK3ABCDE3').and.include('No payment has this reference or receipt');
    expect(text)
      .to.match(/\+2547•••••678/)
      .and.not.match(/\+254712345678/);
    expect((await audits()).at(-1)).to.deep.include({ action: 'reconcile.run' });
    expect((await viewer.get('/reconciliation')).text).to.include('breaks: 2');
    const again = await agree(colleague, location!, 'Daily');
    expect([again.status, again.text.includes('Lines that match')]).to.deep.equal([422, true]);
  });

  it('lets somebody else compare a file with news, about however little money', async () => {
    expect((await support.get('/reconciliation/new')).text.replace(/\s+/g, ' ')).to.include(
      'If it says more than is known, another member compares it',
    );
    const payout = await newPayout(database, merchant);
    const { location } = await upload([lineOf(payout, 'SJK4ABCDE1')]);
    const own = (await support.get(location!)).text;
    expect(own).to.include('somebody else must compare it').and.not.include('Compare and settle');
    const alone = await support.post(`${location}/run`, { reason: 'Mine' });
    expect([alone.status, /somebody else/.test(alone.text)]).to.deep.equal([422, true]);
    expect((await reread(database, payout)).status).to.equal('pending');
    expect((await colleague.get(location!)).text).to.include('Compare and settle');
    await agree(colleague, location!, 'I have seen the statement');
    await ended(location!);
    expect(await reread(database, payout)).to.include({
      ...{ status: 'completed', trans_id: 'SJK4ABCDE1' },
    });
    const repeating = (await upload([lineOf(payout, 'SJK4ABCDE1')])).location!;
    expect((await support.get(repeating)).text).to.include('Compare and settle');
    await support.post(`${repeating}/run`, { reason: 'Mine' });
    await ended(repeating);
  });

  it('foresees as missing what the comparison then misses', async () => {
    const listed = await newPayout(database, merchant);
    await learn(database, listed, succeeded({ trans_id: 'SJK6ABCDE1' } as never));
    // Booked after the newest line of a file that does not say how far it is complete.
    const { location } = await upload([lineOf(listed, 'SJK6ABCDE1')]);
    const draft = (await support.get(location!)).text.replace(/\s+/g, ' ');
    const foreseen = /(\d+) booked movements are not in it/.exec(draft)![1];
    await agree(colleague, location!, 'Daily');
    const text = (await ended(location!)).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
    expect(/Booked movements that it lacks (\d+)/.exec(text)![1]).to.equal(foreseen);
  });

  it('proves nothing by a file that nobody has confirmed', async () => {
    const payout = await newPayout(database, merchant);
    const completedAt = new Date('2026-11-20T10:00:00Z');
    await learn(database, payout, succeeded({ transId: 'SJK5ABCDE1', completedAt }));
    // A draft with the line, and a comparison of a statement without it.
    await upload([lineOf(payout, 'SJK5ABCDE1')]);
    const later = '2026-11-20T11:00:00+00:00';
    const text = await ended(await compared([`,SJK5ABCDE9,,1.00,2026-11-20T12:00:00Z`], later));
    expect(text).to.include('In the books, and not in the statement').and.include('SJK5ABCDE1');
  });

  async function compared(lines: string[], complete_until = ''): Promise<string> {
    const { location } = await upload(lines, { complete_until });
    await colleague.get(location!);
    await agree(colleague, location!, 'Daily');
    return location!;
  }

  it('refuses what it cannot read, and stores nothing', async () => {
    const count = async () => (await rows(database, 'SELECT 1 FROM statement_imports')).length;
    const before = await count();
    const payout = await newPayout(database, merchant);
    const line = lineOf(payout, 'SJK4ABCDE1');
    const many = new Array<string>(MAX_UPLOAD_LINES + 1).fill(line);
    const cases: [string[], object, RegExp][] = [
      [['x,y'], {}, /The file cannot be read|The file line/],
      [[line], { reason: '' }, /Give a reason/],
      [[line], { from: SO_FAR.to, to: SO_FAR.from }, /last day \(to\) is before/],
      [[line], { channel: '99' }, /Channel must be/],
      [[line], { columns: 'nonsense' }, /Columns must be/],
      [[line], { utc_offset: '3' }, /Offset of its times must be/],
      [[line], { kind: 'king' }, /Kind of all lines must be/],
      [many, {}, /has over 50000 lines/],
    ];
    for (const [lines, fields, words] of cases) {
      const { status, text } = await upload(lines, fields);
      expect([status, words.test(text)], String(words)).to.deep.equal([422, true]);
    }
    const huge = new File([new Uint8Array(MAX_UPLOAD_BYTES + 1)], 'huge.csv');
    const tooLarge = await support.postFile('/reconciliation/new', { ...FIELDS, file: huge });
    expect(tooLarge.status).to.equal(413);
    expect(await count()).to.equal(before);
  });

  it('keeps the file after an error, lists the names of columns, and shows what it understood', async () => {
    const payout = await newPayout(database, merchant);
    const lines = Array.from({ length: 11 }, (_, index) => lineOf(payout, `SJK7ABCDE${index}`));
    const { text } = await upload(lines, { reason: '' });
    expect(text).to.include('The file day.csv is kept').and.include('paid_in, withdrawn');
    const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(text)![1]!;
    const none = new File([], '');
    const kept = { kept_name: hidden('kept_name'), kept_file: hidden('kept_file'), file: none };
    const again = await support.postFile('/reconciliation/new', { ...FIELDS, ...kept });
    expect(again.status).to.equal(303);
    const draft = (await support.get(again.location!)).text;
    expect(draft).to.include('The first lines, as they are understood').and.include('SJK7ABCDE9');
    expect(draft).to.not.include('SJK7ABCDE10').and.not.include('712345678');
  });

  it('reads no file of somebody without a session', async () => {
    const stranger = test.client();
    await stranger.get('/log-in');
    const file = fileOf([]);
    expect((await stranger.postFile('/reconciliation/new', { ...FIELDS, file })).status).to.equal(
      403,
    );
  });
});
