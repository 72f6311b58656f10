import { hostname, userInfo } from 'node:os';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import { type AuditFilter, listAudit } from '../../src/domain/audit/audit-log.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { ACTOR, REASON } from '../support/admin-usage.ts';
import { environment } from '../support/environment.ts';
import { plansOf } from '../support/plans.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';

describe('admin audit list', () => {
  let admin: AdminTester;

  beforeEach(async () => {
    admin = await createAdminTester();
  });

  afterEach(() => admin.close());

  const list = async (options: string | string[] = '') => {
    const more = typeof options === 'string' ? options.split(' ').filter(Boolean) : options;
    return (await admin.json(['audit', 'list', ...more])).audit_entries as Document[];
  };
  const subjects = async (options?: string | string[]) =>
    (await list(options)).map(({ subject }) => subject);

  /** Adds a line that somebody left at some time. */
  async function note(subject: string, happened_at: string, overrides: object = {}) {
    const entry = {
      ...{ actor: 'wanjiru', action: 'app.suspend', merchant_id: 1001, subject },
      ...{ reason: 'ticket 4711', details: {} },
      ...overrides,
    };
    await inTransaction(admin.database, (trx) => recordAudit(trx, entry));
    await rows(admin.owner, `ALTER TABLE audit_log DISABLE TRIGGER audit_log_kept`);
    await rows(
      admin.owner,
      'UPDATE audit_log SET happened_at = :happened_at WHERE subject = :subject',
      {
        happened_at,
        subject,
      },
    );
    await rows(admin.owner, `ALTER TABLE audit_log ENABLE TRIGGER audit_log_kept`);
  }

  it('shows what a command has changed, who and why', async () => {
    await admin.change('channel pause --channel 63902');
    const [entry, ...others] = await list();
    expect(others).to.deep.equal([]);
    const { id, happened_at, ...rest } = entry!;
    expect(rest).to.deep.equal({
      actor: ACTOR,
      action: 'channel.pause',
      merchant_id: null,
      subject: 'channel 63902',
      reason: REASON,
      details: { name: 'M-PESA' },
      door: 'command line',
      address: `${userInfo().username}@${hostname()}`,
      session: null,
      request: null,
      database_role: environment.roles.service,
    });
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(happened_at).to.match(/^\d{4}-.*Z$/);
    expect(await admin.text('audit list'))
      .to.match(/^WHEN +ACTOR +ACTION +SUBJECT +MERCHANT ID +REASON +DETAILS\n/)
      .and.match(/ EAT +tester +channel\.pause +channel 63902 +- +because +\{"name":"M-PESA"\}\n/)
      .and.match(/\(1 audit entry\)\n$/);
    await admin.unchanged(() => list());
  });

  it('shows with --reads who has read what, and only that', async () => {
    await admin.change('channel pause --channel 63902');
    await admin.text('payment list --phone 0712345678');
    await list();
    const reads = await list('--reads');
    expect(reads.map(({ action }) => action)).to.deep.equal(['audit.list', 'payment.list']);
    expect(reads[1]).to.include({
      ...{ actor: ACTOR, subject: 'payment', reason: null, merchant_id: null },
    });
    expect(reads[1]!.details).to.include({ phone: '+254******678', limit: 50, rows: 0 });
    expect(await subjects('--reads --noun channel')).to.deep.equal([]);
    expect(await subjects()).to.deep.equal(['channel 63902']);
  });

  it('finds by actor, noun, merchant, subject and time, newest first', async () => {
    expect(await admin.text('audit list')).to.equal('No audit entries\n');
    await note('app 5001', '2026-11-20T20:59:59Z');
    await note('app 5002', '2026-11-20T21:00:00Z', { actor: 'otieno', action: 'app.update' });
    await note('wallet 7', '2026-11-21T09:00:00Z', { action: 'wallet.topup', merchant_id: 1002 });
    await note('channel 63902', '2026-11-22T09:00:00Z', {
      action: 'channel.pause',
      merchant_id: null,
    });
    const all = ['channel 63902', 'wallet 7', 'app 5002', 'app 5001'];
    expect(await subjects()).to.deep.equal(all);
    expect(await subjects('--actor otieno')).to.deep.equal(['app 5002']);
    expect(await subjects('--actor Otieno')).to.deep.equal([]);
    expect(await subjects('--noun app')).to.deep.equal(['app 5002', 'app 5001']);
    expect(await subjects('--noun ap')).to.deep.equal([]);
    expect(await subjects('--merchant 1002')).to.deep.equal(['wallet 7']);
    expect(await subjects(['--subject', 'app 5001'])).to.deep.equal(['app 5001']);
    expect(await subjects('--since 2026-11-21 --until 2026-11-21')).to.deep.equal([
      ...['wallet 7', 'app 5002'],
    ]);
    expect(await subjects('--until 2026-11-20')).to.deep.equal(['app 5001']);
    expect(await subjects('--noun app --actor wanjiru --merchant 1001')).to.deep.equal([
      'app 5001',
    ]);
  });

  it('goes from page to page, also among lines of one moment', async () => {
    for (const n of [1, 2, 3, 4, 5]) await note(`app ${n}`, '2026-11-20T10:00:00Z');
    const walked = [];
    let after = '';
    do {
      const page = await admin.json(`audit list --limit 2 ${after}`);
      walked.push(...(page.audit_entries as Document[]).map(({ subject }) => subject));
      after = page.next ? `--after ${page.next}` : '';
    } while (after);
    expect(walked).to.deep.equal(['app 5', 'app 4', 'app 3', 'app 2', 'app 1']);
    await admin.refused([[`audit list --after ${NOBODY}`, `The audit log has no line ${NOBODY}`]]);
  });

  it('writes all that fit as CSV, which a spreadsheet can open without harm', async () => {
    for (const n of [1, 2, 3]) await note(`app ${n}`, `2026-11-2${n}T10:00:00Z`);
    await note('app 4', '2026-11-24T10:00:00Z', {
      actor: '=cmd()',
      reason: 'said "now", twice',
      merchant_id: null,
      details: { from: [1, 2], to: 'x,y' },
    });
    const file = await admin.text('audit list --csv --limit 1');
    expect(file).to.match(
      /^id,happened_at,actor,action,subject,merchant_id,reason,details,door,address,session,request,database_role\r\n/,
    );
    expect(file).to.match(/[^\n]\r\n$/);
    const read: Record<string, string>[] = parse(file, { columns: true, record_delimiter: '\r\n' });
    expect(read.map(({ subject }) => subject)).to.deep.equal(['app 4', 'app 3', 'app 2', 'app 1']);
    const { id: _, ...newest } = read[0]!;
    expect(newest).to.deep.equal({
      happened_at: '2026-11-24T10:00:00.000Z',
      actor: "'=cmd()",
      action: 'app.suspend',
      subject: 'app 4',
      merchant_id: '',
      reason: 'said "now", twice',
      details: '{"to":"x,y","from":[1,2]}',
      ...{ door: 'service', address: '', session: '', request: '' },
      database_role: environment.roles.service,
    });
    const ours = await admin.text('audit list --csv --actor wanjiru --since 2026-11-22');
    expect(ours.trimEnd().split('\r\n')).to.have.length(3);
    expect(await admin.text('audit list --csv --actor nobody')).to.match(/^id,[^\n]*\r\n$/);
  });

  it('reads by an index, however long the log is', async () => {
    await rows(
      admin.owner,
      `INSERT INTO audit_log (id, actor, action, merchant_id, subject, reason, happened_at)
       SELECT gen_random_uuid(), 'person ' || n % 500, 'noun' || n % 100 || '.do', n % 300,
         'app ' || n % 2000, 'r', now() - n * interval '1 minute'
       FROM generate_series(1, 20000) AS n`,
    );
    await rows(admin.owner, 'ANALYZE audit_log');
    const cases: [AuditFilter, string][] = [
      [{}, 'listed'],
      [{ since: new Date(Date.now() - 3_600_000) }, 'listed'],
      [{ actor: 'person 3' }, 'by_actor'],
      [{ noun: 'noun7' }, 'by_noun'],
      [{ merchant_id: 7 }, 'by_merchant'],
      [{ subjects: ['app 7'] }, 'by_subject'],
      [{ subjects: ['app 7', 'app 8', 'webhook x'] }, 'by_subject'],
    ];
    for (const [filter, index] of cases) {
      const [plan] = await plansOf(admin.database, () =>
        listAudit(admin.database, { ...filter, after: undefined, limit: 51 }),
      );
      expect(plan, index).to.include(`audit_log_${index}`).and.not.include('Seq Scan');
    }
  });
});
