import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import { SEALED_TABLES, type SealedTable } from '../../src/domain/seals/seal.ts';
import { sealDays, sealedDaysBehind } from '../../src/domain/seals/seal-days.ts';
import { exportSeals, lineOf, listSeals } from '../../src/domain/seals/seals-file.ts';
import { verifySeals } from '../../src/domain/seals/verify-seals.ts';
import { recordSecurityEvent } from '../../src/domain/security/security-events.ts';
import { runRetention } from '../../src/domain/upkeep/run-retention.ts';
import { makeFolder } from '../support/make-folder.ts';
import { rejection, useStore } from '../support/world.ts';

const NEVER = new AbortController().signal;
/** The noon of a day of Nairobi, this number of days before the last one that is to be sealed. */
const NOON = `(CAST(CAST(now() AT TIME ZONE 'Africa/Nairobi' - interval '6 hours' AS date) - 1
  - CAST(:back AS integer) AS timestamp) + interval '12 hours') AT TIME ZONE 'Africa/Nairobi'`;
const TIMES = {
  journals: 'created_at',
  entries: 'created_at',
  audit_log: 'happened_at',
  security_events: 'at',
};

describe('The seals of days', () => {
  const store = useStore({ fresh: true });
  let days: string[];
  /** The lines of the audit log, in the order of time: two in the minute of noon, one after it. */
  let audits: string[];

  beforeEach(async () => {
    await store.newCompletedCollection();
    await store.topUp(50_000, 'seals');
    await store.transaction(async (trx) => {
      for (const subject of ['first', 'second', 'third']) {
        const line = { actor: 'a', action: 'app.suspend', merchant_id: null, subject, details: {} };
        await recordAudit(trx, { ...line, reason: 'because' });
      }
    });
    await recordSecurityEvent(store.database, { kind: 'log_in' });
    for (const [table, at] of Object.entries(TIMES)) await date(table, at, 1);
    const third = `UPDATE audit_log SET happened_at = happened_at + interval '5 minutes'
      WHERE subject = 'third'`;
    await store.rewrite(third);
    await store.rewrite(`UPDATE schema_migrations SET migration_time = ${NOON}`, { back: 2 });
    const lines = await store.rows<{ id: string }>(
      'SELECT id FROM audit_log ORDER BY happened_at, subject',
    );
    audits = lines.map(({ id }) => id).slice(-3);
    const named = await store.rows<{ day: string }>(
      `SELECT CAST(CAST(day AS date) AS text) AS day
       FROM (SELECT CAST(${NOON} AT TIME ZONE 'Africa/Nairobi' AS date) AS last) last,
         generate_series(last - 2, last, interval '1 day') day ORDER BY day`,
      { back: 0 },
    );
    days = named.map(({ day }) => day);
  });

  const date = (table: string, at: string, back: number) =>
    store.rewrite(`UPDATE ${table} SET ${at} = ${NOON}`, { back });
  const seal = () => sealDays(store.database, NEVER);
  const verify = (given?: Parameters<typeof verifySeals>[1]) => verifySeals(store.database, given);
  const findings = async (given?: Parameters<typeof verifySeals>[1]) =>
    (await verify(given)).breaks.map(({ kind, table_name, day }) => `${kind} ${table_name} ${day}`);
  const behind = async () =>
    new Set((await sealedDaysBehind(store.database)).map((row) => row.days));

  it('are made once for each ended day and table, by processes that run at once', async () => {
    expect(await behind()).to.deep.equal(new Set([3]));
    await Promise.all([seal(), seal(), seal()]);
    const seals = await listSeals(store.database);
    const wanted = [...SEALED_TABLES].sort().flatMap((table) => days.map((day) => [table, day]));
    expect(seals.map(({ table_name, day }) => [table_name, day])).to.deep.equal(wanted);
    const counts = seals.filter(({ row_count }) => row_count > 0);
    expect(counts.map(({ table_name, day, row_count }) => [table_name, day, row_count]))
      .to.deep.include(['audit_log', days[1], await store.countOf('audit_log')])
      .and.include(['journals', days[1], await store.countOf('journals')])
      .and.include(['entries', days[1], await store.countOf('entries')])
      .and.include(['security_events', days[1], await store.countOf('security_events')])
      .and.have.length(4);
    expect(await behind()).to.deep.equal(new Set([0]));
    await seal();
    expect(await listSeals(store.database)).to.deep.equal(seals);
    expect(await verify()).to.deep.include({ breaks: [], days_behind: 0 });
    await store.expectSoundLedger();
  });

  it('are made of a day with many minutes, and name each minute that differs', async () => {
    await store.rewrite(
      `INSERT INTO security_events (id, kind, at)
       SELECT gen_random_uuid(), 'staff_refused', ${NOON} - interval '12 hours' + n * interval '150 seconds'
       FROM generate_series(0, 575) n`,
      { back: 1 },
    );
    await seal();
    expect((await verify()).breaks).to.deep.equal([]);
    expect((await verify()).checked.rows).to.be.greaterThan(576);
    await store.rewrite(`UPDATE security_events SET staff = 'x' WHERE kind = 'staff_refused'`);
    const { breaks } = await verify();
    expect(breaks).to.have.length(576);
    const minutes = breaks.map(({ expected }) => /of (\S+),/.exec(expected)![1]);
    expect(minutes).to.deep.equal([...minutes].sort());
  });

  it('are compared with no file of many more lines, and with no long line of one', async () => {
    await seal();
    const many = '{}\n'.repeat(200_000);
    expect((await rejection(verify({ file: many }))).message).to.include('no file of seals');
    const long = JSON.stringify(Array.from({ length: 5_000 }, () => ({})));
    const { checked } = await verify({ file: long });
    expect(checked.not_in_file).to.equal(checked.seals);
    // Of a line that is no seal nothing is kept.
    const other = await verify({ file: '[{},{}]\n{"day":"2026-11-20","hash":"1"}\nnull\n' });
    expect(other.breaks).to.deep.equal([]);
  });

  it('leave a day alone until six in the morning after it', async () => {
    await store.rewrite(`UPDATE schema_migrations SET migration_time = ${NOON}`, { back: -1 });
    await seal();
    expect(await listSeals(store.database)).to.deep.equal([]);
    expect(await behind()).to.deep.equal(new Set([0]));
  });

  it('can be made from the text of the rows by anybody', async () => {
    await recordSecurityEvent(store.database, { kind: 'logged_out' });
    const later = `UPDATE security_events SET at = ${NOON} + interval '90 seconds'
      WHERE kind = 'logged_out'`;
    await store.rewrite(later, { back: 1 });
    await seal();
    const events = await store.rows<{ id: string; text: string; minute: Date }>(
      `SELECT id, CAST(to_jsonb(e) AS text) AS text, date_trunc('minute', at) AS minute
       FROM security_events e ORDER BY at`,
    );
    const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();
    const blocks = events.map(({ id, text, minute }) => {
      return [minute, 1, sha256(sha256(text)).toString('hex'), id, id];
    });
    expect(blocks).to.have.length(2);
    const hashOf = (...parts: unknown[]) => sha256(JSON.stringify(parts)).toString('hex');
    const first = hashOf('security_events', days[0], '0'.repeat(64), []);
    const second = hashOf('security_events', days[1], first, blocks);
    const [, sealed] = (await listSeals(store.database)).slice(-days.length);
    expect(sealed).to.include({ hash_before: first, hash: second, row_count: 2 });
  });

  it('cover all columns: a new one must not change the text of rows that are sealed', async () => {
    const columns = await store.rows<{ name: string; columns: string[] }>(
      `SELECT table_name AS name, array_agg(CAST(column_name AS text) ORDER BY column_name) AS columns
       FROM information_schema.columns WHERE table_name = ANY (CAST(:tables AS text[]))
         AND table_schema = 'public' GROUP BY table_name ORDER BY table_name`,
      { tables: SEALED_TABLES },
    );
    expect(Object.fromEntries(columns.map((table) => [table.name, table.columns.join(' ')])))
      // The day a column joins, leave it out of the text while it has the value of older rows.
      .to.deep.equal({
        audit_log:
          'action actor address database_role details door happened_at id merchant_id reason request session subject',
        entries:
          'account amount_cents balance_after_cents counterparty created_at description entry_no journal_id line merchant_id ref_no transaction_id type',
        journals: 'created_at id kind merchant_id source_id source_kind',
        security_events:
          'account_hash app_code at detail family id ip kind merchant_id staff user_id',
      });
  });

  /** What the owner does to sealed rows, which table it breaks, and how. The second SQL undoes it. */
  const FORGERIES: [string, SealedTable, string, string, string?][] = [
    [
      'changes the amounts of a journal',
      'entries',
      'rows_changed',
      'UPDATE entries SET amount_cents = -amount_cents',
      'UPDATE entries SET amount_cents = -amount_cents',
    ],
    [
      'changes the reason of a journal',
      'journals',
      'rows_changed',
      `UPDATE journals SET kind = kind || '-' WHERE source_kind = 'topup'`,
      `UPDATE journals SET kind = rtrim(kind, '-')`,
    ],
    ['deletes a line of the audit log', 'audit_log', 'rows_missing', deletionOf('first')],
    ['deletes the only row of a minute', 'audit_log', 'rows_missing', deletionOf('third')],
    [
      'adds a line of the audit log with a time of that day',
      'audit_log',
      'rows_added',
      `INSERT INTO audit_log (id, actor, action, subject, happened_at)
       SELECT gen_random_uuid(), actor, action, 'forged', happened_at + interval '1 hour'
       FROM audit_log WHERE subject = 'third'`,
    ],
    [
      'swaps the times of two lines of the audit log',
      'audit_log',
      'rows_changed',
      `UPDATE audit_log a SET happened_at = b.happened_at FROM audit_log b
       WHERE a.subject IN ('second', 'third') AND b.subject IN ('second', 'third')
         AND a.id <> b.id`,
    ],
    [
      'moves a line by a microsecond',
      'audit_log',
      'rows_changed',
      `UPDATE audit_log SET happened_at = happened_at + interval '1 microsecond'
       WHERE subject = 'third'`,
    ],
    ['deletes an event', 'security_events', 'rows_missing', 'DELETE FROM security_events'],
  ];

  for (const [deed, table, kind, sql, undo] of FORGERIES) {
    it(`show that the owner ${deed}`, async () => {
      await seal();
      await store.rewrite(sql);
      const found = new Set(await findings());
      expect([...found]).to.deep.equal([`${kind} ${table} ${days[1]}`]);
      expect(await findings({ from: days[2] })).to.deep.equal([]);
      if (undo) await store.rewrite(undo);
      if (undo) expect(await findings()).to.deep.equal([]);
      await store.expectSoundLedger();
    });
  }

  it('name the minute, and the rows that it had and has', async () => {
    await seal();
    await store.rewrite(deletionOf('third'));
    const [found] = (await verify()).breaks;
    const [at] = await store.rows<{ minute: Date }>(
      `SELECT ${NOON} + interval '5 minutes' AS minute`,
      { back: 1 },
    );
    const minute = at!.minute.toISOString();
    expect(found).to.include({
      expected: `1 row of ${minute}, ${audits[2]} to ${audits[2]}`,
      found: `0 rows of ${minute}`,
    });
  });

  it('show a row that was added with a time before the first day', async () => {
    await seal();
    await store.rewrite(`INSERT INTO journals (merchant_id, id, source_kind, source_id, kind, created_at)
      VALUES (1, gen_random_uuid(), 'topup', gen_random_uuid(), 'x', '2001-01-01')`);
    expect(await findings()).to.deep.equal([`rows_added journals ${days[0]}`]);
    await store.rewrite('DELETE FROM journals WHERE merchant_id = 1');
    await store.expectSoundLedger();
  });

  it('show that a seal was removed, or changed', async () => {
    await seal();
    await store.rewrite(`DELETE FROM seals WHERE table_name = 'entries' AND day = '${days[1]}'`);
    await store.rewrite(
      `UPDATE seals SET blocks = '[]', row_count = 0 WHERE table_name = 'journals' AND row_count > 0`,
    );
    await store.rewrite(
      `UPDATE seals SET hash = repeat('a', 64) WHERE table_name = 'audit_log' AND day = '${days[0]}'`,
    );
    await store.rewrite(`DELETE FROM seals
      WHERE table_name = 'security_events' AND day = '${days[0]}'`);
    expect(await findings()).to.have.members([
      `seal_missing entries ${days[1]}`,
      `seal_changed journals ${days[1]}`,
      `rows_added journals ${days[1]}`,
      `seal_changed audit_log ${days[0]}`,
      `seal_changed audit_log ${days[0]}`,
      `seal_missing security_events ${days[0]}`,
    ]);
    await seal();
    expect(await findings(), 'a gap stays').to.include(`seal_missing entries ${days[1]}`);
  });

  it('are not broken by retention, which may delete what is old', async () => {
    for (const [kind, age] of [
      ['log_in_failed', '14 months'],
      ['logged_out', '15 months'],
      ['totp_reset', '12 months'],
    ]) {
      await recordSecurityEvent(store.database, { kind: kind as 'log_in' });
      await store.rewrite(
        `UPDATE security_events SET at = now() - interval '${age}' WHERE kind = '${kind}'`,
      );
    }
    await seal();
    await store.rewrite(`UPDATE security_events SET ip = '10.0.0.1' WHERE kind = 'logged_out'`);
    expect(await findings(), 'an old row was changed').to.deep.equal([
      `rows_changed security_events ${days[0]}`,
    ]);
    await runRetention(store.database, { actor: 'schedule', reason: 'old' });
    const { checked, breaks } = await verify();
    expect(breaks).to.deep.equal([]);
    expect(checked).to.include({ removed_by_retention: 2 });
    await store.rewrite(`DELETE FROM security_events WHERE kind = 'totp_reset'`);
    expect(await findings()).to.deep.equal([`rows_missing security_events ${days[0]}`]);
  });

  describe('in the file of the operator', () => {
    let folder: string;
    const write = () => exportSeals(store.database, folder);
    const read = () => readFileSync(join(folder, 'seals.jsonl'), 'utf8');
    const linesNow = async () => (await listSeals(store.database)).map(lineOf);

    beforeEach(() => {
      folder = makeFolder('seals');
    });

    it('are added once, each on a line', async () => {
      await seal();
      await write();
      await write();
      expect(read().split('\n')).to.deep.equal([...(await linesNow()), '']);
      expect(await verify({ file: read() })).to.deep.include({ breaks: [] });
    });

    it('are added after a stop between seal and file, or in the middle of a line', async () => {
      await seal();
      const [first, second] = await linesNow();
      writeFileSync(join(folder, 'seals.jsonl'), `${first}\n${second!.slice(0, 30)}`);
      const before = await verify({ file: `${first}\n` });
      expect(before.breaks).to.have.length(
        (await linesNow()).length - 1 - before.checked.not_in_file,
      );
      await write();
      expect(read()).to.equal(
        [first, second!.slice(0, 30), ...(await linesNow()).slice(1), ''].join('\n'),
      );
      expect((await verify({ file: read() })).breaks).to.deep.equal([]);
    });

    it('are not missed while they are newer than the file', async () => {
      await seal();
      await write();
      const file = read();
      await store.rewrite(`UPDATE seals SET sealed_at = sealed_at + interval '1 hour'
        WHERE day = '${days[2]}'`);
      const older = file.split('\n').filter((line) => !line.includes(`"day":"${days[2]}"`));
      const { checked, breaks } = await verify({ file: older.join('\n') });
      expect(breaks).to.deep.equal([]);
      expect(checked).to.include({ not_in_file: SEALED_TABLES.length });
    });

    it('are written later if the folder cannot be written now', async () => {
      await seal();
      const missing = join(folder, 'missing');
      let failure: unknown;
      await exportSeals(store.database, missing).catch((error) => {
        failure = error;
      });
      expect(failure).to.include({ code: 'ENOENT' });
      mkdirSync(missing);
      await exportSeals(store.database, missing);
      expect(readFileSync(join(missing, 'seals.jsonl'), 'utf8').split('\n')).to.have.length(
        (await linesNow()).length + 1,
      );
    });

    it('show that the owner has made all seals anew', async () => {
      await seal();
      await write();
      const file = read();
      await store.rewrite(deletionOf('first'));
      await store.rewrite(`DELETE FROM seals WHERE table_name = 'audit_log'`);
      await seal();
      expect(await findings(), 'the table alone does not show it').to.deep.equal([]);
      expect(await findings({ file })).to.include(`seal_missing audit_log ${days[1]}`);
      await write();
      expect(read().startsWith(file), 'what was there stays').to.equal(true);
      expect(await findings({ file: read() })).to.include(`seal_missing audit_log ${days[1]}`);
    });

    it('show that the newest seal was removed', async () => {
      await seal();
      await write();
      await store.rewrite(`DELETE FROM seals WHERE day = '${days[2]}'`);
      expect(await findings()).to.deep.equal([]);
      expect(await findings({ file: read() })).to.have.members(
        SEALED_TABLES.map((table) => `seal_missing ${table} ${days[2]}`),
      );
    });
  });
});

function deletionOf(subject: string): string {
  return `DELETE FROM audit_log WHERE subject = '${subject}'`;
}
