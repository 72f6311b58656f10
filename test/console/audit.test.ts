import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { type AuditEntry, recordAudit } from '../../src/domain/audit/audit.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { lastAudit, wordsOf } from '../support/console-text.ts';
import { rewrite } from '../support/database.ts';

describe('The audit log of the console', () => {
  let test: TestConsole;
  let viewer: ConsoleClient;
  let database: TestConsole['service']['database'];

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    viewer = await logIn(test, await newMember(test, 'viewer'));
  });

  after(() => test.close());

  const note = (subject: string, more: Partial<AuditEntry> = {}) =>
    inTransaction(database, (trx) =>
      recordAudit(trx, {
        ...{ actor: 'wanjiru', action: 'app.suspend', merchant_id: 1001, subject },
        ...{ reason: 'ticket 4711', details: {}, ...more },
      }),
    );
  const list = async (query = '') => wordsOf(await viewer.get(`/audit?${query}`));

  it('is found by person, action, thing, merchant and day, changes or reads', async () => {
    const details = {
      phone: '+254712345678',
      to: '01109876543',
      cents: 12345678,
      name: '<b>x</b>',
    };
    await note('app 4242', { reason: '<i>asked</i> by 0712345678', details });
    await note('payment', { actor: 'otieno', action: 'payment.list', reason: null });
    const words = await list();
    expect(words).to.include('app 4242').and.include('&lt;i>asked&lt;/i> by •••••678');
    expect(words).to.include('+2547•••••678').and.not.include('712345678');
    expect(words).to.include('•••••543').and.include('12345678').and.not.include('9876543');
    for (const query of [
      ...['actor=wanjiru', 'noun=app', 'subject=app+4242', 'merchant=1001', 'since=2026-01-01'],
    ]) {
      expect(await list(query), query).to.include('app 4242');
    }
    for (const query of [
      ...['actor=otieno', 'noun=ap', 'subject=app+424', 'merchant=1002', 'until=2026-01-01'],
      'show=reads&noun=app',
    ]) {
      expect(await list(query), query).to.not.include('app 4242');
    }
    expect(await list('show=reads&actor=otieno')).to.include('payment.list');
    expect(await lastAudit(database, true)).to.deep.include({
      ...{ action: 'audit.list', subject: 'audit' },
      details: { actor: 'otieno', reads: true, rows: 1 },
    });
    for (const query of ['noun=App', 'show=all', 'merchant=x', 'until=x', 'after=x']) {
      expect((await viewer.get(`/audit?${query}`)).status, query).to.equal(400);
    }
  });

  it('says where each line comes from: door, address, session and request', async () => {
    const [member, other] = [await newMember(test, 'viewer'), await newMember(test, 'viewer')];
    const [one, two] = [await logIn(test, member), await logIn(test, other)];
    const origins: Record<string, unknown>[] = [];
    for (const browser of [one, one, two]) {
      const { headers } = await browser.get('/audit');
      const [line] = await rows<Record<string, unknown>>(
        database,
        `SELECT door, address, session, request FROM audit_log
         WHERE reason IS NULL ORDER BY happened_at DESC, id DESC LIMIT 1`,
      );
      expect(line!.request).to.equal(headers.get('x-request-id'));
      origins.push(line!);
    }
    expect(origins[0]).to.deep.include({ door: 'console', address: '127.0.0.1' });
    expect(origins[0]!.session).to.match(/^[0-9a-f]{12}$/);
    expect(origins[1]!.session).to.equal(origins[0]!.session);
    expect(origins[2]!.session).to.not.equal(origins[0]!.session);
    expect(await list('show=reads')).to.include('console 127.0.0.1');
  });

  it('hides what its reasons tell of people, and keeps whose account a change is about', async () => {
    const actor = 'akinyi';
    const reason = 'Asha, asha@mail.example, 0712 345 678, account 01109876543';
    await note('user owner@duka.example', { actor, reason });
    const words = await list(`actor=${actor}`);
    expect(words).to.include('Asha, a•••••, •••••678, account •••••543');
    expect(words).to.include('user owner@duka.example');
    const { text } = await viewer.get(`/audit/entries.csv?actor=${actor}`);
    expect(text).to.include('"Asha, a•••••, •••••678, account •••••543"');
  });

  it('goes from page to page, newest first', async () => {
    for (let n = 1; n <= 55; n += 1) await note(`page ${n}-`, { actor: 'njeri' });
    const first = await viewer.get('/audit?actor=njeri');
    expect(first.text).to.include('page 55-').and.include('page 6-').and.not.include('page 5-');
    const next = /href="([^"]+)">Next page/.exec(first.text)![1]!.replaceAll('&amp;', '&');
    const second = await viewer.get(next);
    expect(second.text).to.include('page 5-').and.include('page 1-').and.not.include('page 6-');
  });

  it('is a CSV file of any length, which a spreadsheet can open without harm', async () => {
    const formula = '=HYPERLINK("http://x","y")';
    const actor = 'mwangi';
    await note('first', { actor, reason: formula, details: { to: 'a,b', phone: '0712345678' } });
    await rewrite(
      database,
      `INSERT INTO audit_log (id, actor, action, merchant_id, subject, reason, happened_at)
       SELECT gen_random_uuid(), 'mwangi', 'app.update', 1001, 'app ' || n, 'r',
         now() + n * interval '1 second' FROM generate_series(1, 2100) AS n`,
    );
    const { status, headers, text } = await viewer.get(`/audit/entries.csv?actor=${actor}`);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-disposition')).to.match(/^attachment; filename="?audit-log.csv"?$/);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(text).to.match(
      /^id,happened_at,actor,action,subject,merchant_id,reason,details,door,address,session,request,database_role\r\n/,
    );
    const read: Record<string, string>[] = parse(text, { columns: true, record_delimiter: '\r\n' });
    expect(read.map(({ subject }) => subject)).to.deep.equal([
      ...Array.from({ length: 2_100 }, (_, n) => `app ${2_100 - n}`),
      'first',
    ]);
    expect(read.at(-1)).to.include({
      ...{ actor, reason: `'${formula}`, details: '{"to":"a,b","phone":"•••••678"}' },
    });
    expect(await lastAudit(database, true)).to.deep.include({
      ...{ action: 'audit.list', details: { actor, reads: false, rows: null } },
    });
    const none = await viewer.get('/audit/entries.csv?actor=nobody');
    expect(none.text).to.match(/^id,[^\n]*\r\n$/);
  });
});
