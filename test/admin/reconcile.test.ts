import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Simulator, startSimulator } from '../../scripts/simulator/server.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { rewrite } from '../support/database.ts';
import { makeFolder } from '../support/make-folder.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { PAYER, reread } from '../support/payments.ts';
import { SO_FAR } from '../support/so-far.ts';
import { payAt } from '../support/statements.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const CONFIGURED = { CHANNELS: '63902=simulator' };
const HEAD = 'Our ref,Receipt No.,Phone,Paid,Time';
const COLUMNS =
  'reference=Our ref,trans_id=Receipt No.,account=Phone,amount=Paid,completed_at=Time';

describe('admin reconcile', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  let folder: string;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    merchant = await createTestMerchant({ database: admin.database, config });
    folder = makeFolder('statements');
  });

  after(async () => {
    await admin.close();
  });

  function fileOf(lines: string[]): string {
    const path = join(folder, 'statement.csv');
    writeFileSync(path, `\uFEFF${[HEAD, ...lines].join('\r\n')}\r\n`);
    return path;
  }

  function command(path: string, kind = 'payout'): string[] {
    const days = ['--from', SO_FAR.from, '--to', SO_FAR.to];
    const file = ['--file', path, '--columns', COLUMNS, '--kind', kind];
    return ['reconcile', '--channel', '63902', ...days, ...file, '--utc-offset', '+03:00'];
  }

  it('settles and lists by a file, and books nothing twice', async () => {
    const payout = await newPayout(admin.database, merchant);
    const path = fileOf([
      `${payout.reference},SJK3ABCDE1,0712345678,100.00,20/11/2026 13:00:00`,
      `,SJK3ABCDE2,${PAYER},"1,250.50",2026-11-20 13:00:01`,
    ]);
    const first = await admin.changeJson(command(path), { env: CONFIGURED });
    expect(first).to.deep.include({
      lines: { matched: 0, settled: 1, contradicts: 0, unknown: 1 },
      outside: 0,
      clean: false,
      answered: [],
      failed: [],
      breaks: [
        {
          break: 'at the gateway, not with us',
          kind: 'payout',
          reference: null,
          trans_id: 'SJK3ABCDE2',
          amount: '1250.50',
        },
      ],
    });
    const listed = await admin.text('discrepancy list --kind unknown_movement');
    expect(listed).to.match(
      /unknown_movement: at the gateway, not with us +- +payout - .* 1250\.50 +2026-11-20 13:00:01 EAT +- +\+254712345678 +simulator +SJK3ABCDE2 +dismissed +-$/m,
    );
    const ended = await reread(admin.database, payout);
    expect(ended).to.include({ status: 'completed', trans_id: 'SJK3ABCDE1' });
    expect(ended.payment_completed_at?.toISOString()).to.equal('2026-11-20T10:00:00.000Z');
    expect(await admin.lastAudit()).to.deep.include({
      action: 'reconcile.run',
      merchant_id: null,
      subject: 'channel 63902',
    });
    const [imported, , done] = (await admin.audits()).slice(-3);
    expect(imported!.details).to.include({ lines: 2, complete_until: null });
    expect(imported!.details.covers).to.deep.equal(['payout']);
    expect(done!.details).to.deep.include({
      counts: { settled: 1, answered: 0, failed: 0 },
      settled: [`payout ${payout.id}`],
    });

    const again = await admin.change(command(path), { env: CONFIGURED });
    expect(again)
      .to.match(/^1 lines match, 0 were news and are booked$/m)
      .and.match(/^1 breaks, each a discrepancy:$/m)
      .and.match(/^at the gateway, not with us +payout +- +SJK3ABCDE2 +1250\.50$/m);
  });

  it('takes a network’s way to write a phone for what it is', async () => {
    for (const [index, account] of ['254712345678', '0712345678', PAYER].entries()) {
      const payout = await newPayout(admin.database, merchant);
      const path = fileOf([
        `${payout.reference},SJK4ABCDE${index},${account},100.00,2026-11-20 13:00:00`,
      ]);
      expect(await admin.changeJson(command(path), { env: CONFIGURED })).to.include({
        clean: true,
      });
    }
  });

  it('takes a file whose lines say their kind for no more than it is said to cover', async () => {
    const path = fileOf([`payout,SJK5ABCDE1,${PAYER},1.00,2026-11-20 13:00:00`]);
    const kinds = COLUMNS.replace('reference=Our ref', 'kind=Our ref');
    const days = ['--channel', '63902', '--from', SO_FAR.from, '--to', SO_FAR.to];
    const file = ['--file', path, '--columns', kinds, '--utc-offset', '+03:00'];
    const unsaid = await admin.change(['reconcile', ...days, ...file], { env: CONFIGURED });
    expect(unsaid).to.match(/^What it lacks was not looked for/m);
    const said = ['reconcile', ...days, ...file, '--covers', 'payout,collection'];
    const { covers } = await admin.changeJson(said, { env: CONFIGURED });
    expect(covers).to.deep.equal(['collection', 'payout']);
  });

  it('shows what a file says on one line, whatever that holds', async () => {
    const path = fileOf([`,"S\u001b[2J\nX${'9'.repeat(600)}",,1.00,2026-11-20 13:00:00`]);
    const shown = await admin.change(command(path), { env: CONFIGURED });
    expect(shown).to.match(
      /^at the gateway, not with us +payout +- +S\\u001b\[2J X9{480,}… +1\.00$/m,
    );
  });

  describe('for a payout that is overdue', () => {
    /** The statement lists it. Without such a line it would rule nothing out. */
    let paid: Payout;
    let payout: Payout;
    let simulator: Simulator;
    let env: NodeJS.ProcessEnv;

    beforeEach(async () => {
      simulator = await startSimulator({ port: 0, delayMs: 1, log: () => {} });
      env = { ...CONFIGURED, SIMULATOR_URL: simulator.url, SIMULATOR_SETTLING_WINDOW_MS: '1' };
      paid = await newPayout(admin.database, merchant);
      await payAt(simulator, paid);
      payout = await newPayout(admin.database, merchant);
      await rewrite(
        admin.database,
        `UPDATE payouts SET deadline_at = now() - interval '1 hour', next_step = 'poll'
         WHERE id = :id`,
        { id: payout.id },
      );
    });

    afterEach(() => simulator.close());

    const today = (offsetDays = 0) =>
      new Date(Date.now() + offsetDays * 86_400_000).toISOString().slice(0, 10);
    const days = () => ['--channel', '63902', '--from', today(-1), '--to', today(1)];

    function partial(kind: string, ...more: string[]): string[] {
      const justNow = new Date(paid.created_at.getTime() - 1).toISOString().slice(0, 23);
      const line = `${paid.reference},SJK3ABCDE3,,100.00,${justNow}Z`;
      const file = [
        '--file',
        fileOf(kind === 'payout' ? [line] : []),
        '--columns',
        COLUMNS,
        '--utc-offset',
        '+03:00',
      ];
      return ['reconcile', ...days(), ...file, '--kind', kind, ...more];
    }

    it('rules it out by the word of the gateway', async () => {
      const { failed } = await admin.changeJson(['reconcile', ...days()], { env });
      expect(failed).to.deep.equal([
        { kind: 'payout', merchant_id: merchant.merchant_id, id: payout.id },
      ]);
      const { details } = await admin.lastAudit();
      expect(details).to.deep.include({ failed: [`payout ${payout.id}`] });
    });

    it('rules it out by a file only of its kind, and only as far as that is complete', async () => {
      const untilNow = ['--complete-until', new Date().toISOString()];
      for (const command of [
        partial('payout'),
        partial('payout', '--complete-until', today(-1)),
        partial('collection', ...untilNow),
      ]) {
        expect(await admin.changeJson(command, { env })).to.deep.include({ failed: [] });
      }
      const { failed } = await admin.changeJson(partial('payout', ...untilNow), { env });
      expect(failed).to.have.length(1);
    });
  });

  it('asks the gateway when there is no file', async () => {
    const simulator = await startSimulator({ port: 0, delayMs: 1, log: () => {} });
    try {
      const env = { ...CONFIGURED, SIMULATOR_URL: simulator.url };
      const answer = (await admin.changeJson(
        'reconcile --channel 63902 --from 2026-10-01 --to 2026-10-31',
        { env },
      )) as Document;
      expect(answer).to.deep.include({ clean: true, breaks: [], failed: [] });
    } finally {
      await simulator.close();
    }
  });

  it('changes nothing when the statement cannot be had', async () => {
    const days = '--channel 63902 --from 2026-10-01 --to 2026-10-31';
    const gone = { ...CONFIGURED, SIMULATOR_URL: 'http://127.0.0.1:9' };
    await admin.refused([[`reconcile ${days} --reason because`, 'The gateway gave no statement']], {
      env: gone,
    });
    await admin.refused(
      [
        [
          `reconcile --channel 63903 --from 2026-10-01 --to 2026-10-31 --reason because`,
          'no driver',
        ],
      ],
      { env: CONFIGURED },
    );
  });

  it('takes a file as a whole or not at all, and says which line is wrong', async () => {
    const good = `x,SJK3ABCDE9,${PAYER},1.00,2026-11-20 13:00:00`;
    for (const [bad, line] of [
      [',,+254712345678,1.00,2026-11-20 13:00:00', 'line 3: has neither reference nor receipt'],
      ['x,R1,,none,2026-11-20 13:00:00', 'line 3: has no amount'],
      ['x,R1,,1.00,yesterday', 'line 3: has no time'],
      ['x,R1,,1.00,2026-02-31 10:00:00', 'line 3: has no time'],
      ['x,R1,,1.00,31/06/2026 10:00:00', 'line 3: has no time'],
      ['x,R1,1.00', 'line 3: has another number of cells than the header'],
    ] as const) {
      const run = await admin.unchanged(() =>
        admin.run([...command(fileOf([good, bad])), '--reason', 'because'], {
          env: { ...CONFIGURED, MALIPO_ACTOR: 'tester' },
        }),
      );
      expect([run.status, run.stdout]).to.deep.equal([2, '']);
      expect(run.stderr).to.contain(line);
    }
    const missing = await admin.run([...command('/nowhere.csv'), '--reason', 'because'], {
      env: { ...CONFIGURED, MALIPO_ACTOR: 'tester' },
    });
    expect([missing.status, missing.stderr]).to.deep.equal([
      2,
      "/nowhere.csv cannot be read: ENOENT: no such file or directory, open '/nowhere.csv'\n",
    ]);
  });

  it('takes no money that went out for a collection', async () => {
    const path = fileOf(['x,R1,,-1.00,2026-11-20 13:00:00']);
    const { status, stderr } = await admin.unchanged(() =>
      admin.run([...command(path, 'collection'), '--reason', 'because'], { env: CONFIGURED }),
    );
    expect([status, stderr]).to.deep.equal([
      2,
      `${path} line 2: is a collection of a negative amount\n`,
    ]);
  });
});
