import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { notCovered } from '../../src/domain/reconciliation/coverage.ts';
import { previewStatement } from '../../src/domain/reconciliation/preview-statement.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { toldIn } from '../support/told.ts';
import { succeeded, useStore } from '../support/world.ts';

const AMINA = 'amina@x.example';

describe('The file that one person has brought and compared', () => {
  const store = useStore({ fresh: true });
  const { at, day, read } = toldIn(store);
  let payout: Payout;
  let receipt: string;

  beforeEach(async () => {
    payout = await store.newPayout();
    receipt = newReceipt();
    await store.learn(
      payout,
      succeeded({ transId: receipt, externalRef: null, completedAt: at(1) }),
    );
  });

  const line = (more: Partial<StatementLine> = {}) =>
    lineOf(payout, { transId: receipt, completedAt: at(1), ...more });
  const period = { from: day(-1), to: day(1) };

  async function alone(lines: StatementLine[]): Promise<void> {
    const source = `${newReceipt()}.csv`;
    await read(lines, source);
    await store.rewrite('UPDATE statement_imports SET brought_by = :by WHERE source = :source', {
      by: AMINA,
      source,
    });
  }

  const kinds = async () =>
    (await store.rows<{ kind: string }>('SELECT kind FROM discrepancies ORDER BY id')).map(
      ({ kind }) => kind,
    );

  it('keeps no payment from being missed in the file of two', async () => {
    await alone([line()]);
    await read([line({ transId: newReceipt(), reference: null })], 'day.csv', ['payout']);
    expect(await kinds()).to.include('missing_at_gateway');
  });

  it('hides no second line of a payment that was paid twice', async () => {
    const later = { completedAt: at(7) };
    const twice = [line({ transId: null }), line({ transId: null, ...later })];
    await alone(twice);
    await read(twice, 'day.csv');
    expect(await kinds()).to.include('unknown_movement');
  });

  it('fills no hole that the statements of others leave', async () => {
    const scope = { gateway: 'simulator', channel: 63902, covers: ['payout'] as const };
    const of = async (from: number, brought_by: string | null) => {
      const period = { from: day(from), to: day(from) };
      const until = new Date(Date.parse(day(from + 1)));
      const import_id = await store.transaction((trx) =>
        importStatement(trx, {
          ...{ ...scope, period, source: 'x.csv', brought_by, complete_until: until },
          lines: [line()],
        }),
      );
      await store.rewrite("UPDATE statement_imports SET result = '{}' WHERE id = :import_id", {
        import_id,
      });
      const compared = { ...scope, import_id, period, complete_until: until };
      return notCovered(store.database, compared, []);
    };
    await of(-4, null);
    await of(-3, AMINA);
    const hole = `Only a file to which nobody else agreed has every payout from ${day(-3)}T00:00:00.000Z until ${day(-2)}T00:00:00.000Z`;
    expect(await of(-2, null)).to.include(hole);
    await of(-3, null);
    expect(await of(-2, null)).to.not.include(hole);
  });

  it('covers no hours after its newest line, if nobody has said how far it is complete', async () => {
    const source = 'days.csv';
    const before = { from: day(-6), to: day(-1) };
    const of = { gateway: 'simulator', channel: 63902, covers: ['payout'] as const };
    const until = new Date(Date.parse(day(-5)));
    await store.transaction((trx) =>
      importStatement(trx, {
        ...of,
        period: before,
        source,
        lines: [line({ completedAt: until })],
      }),
    );
    await store.rewrite("UPDATE statement_imports SET result = '{}'", {});
    const today = { from: day(0), to: day(0) };
    const import_id = await store.transaction((trx) =>
      importStatement(trx, { ...of, period: today, source, lines: [] }),
    );
    const open = await notCovered(
      store.database,
      { ...of, import_id, period: today, complete_until: null },
      [],
    );
    expect(open).to.include(
      `No statement has every payout from ${until.toISOString()} until ${day(0)}T00:00:00.000Z`,
    );
  });

  it('has a stake if it names the payment of money that a line without a name has completed', async () => {
    const collection = await store.newCollection();
    const work = workOn(store.database, collection);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    const guess = lineOf(collection, { reference: null, completedAt: new Date() });
    await read([guess], 'guess.csv');
    expect((await store.reread(collection)).status).to.equal('completed');
    const stakeOf = (lines: StatementLine[]) =>
      store.transaction(async (trx) => {
        const of = { gateway: 'simulator', channel: 63902, period };
        const import_id = await importStatement(trx, { ...of, source: 'x.csv', lines });
        const asked = { covers: [], complete_until: null, settling_window_ms: 0 };
        return (await previewStatement(trx, { ...of, ...asked, import_id })).stake_cents;
      });
    expect(await stakeOf([guess])).to.equal(0);
    expect(await stakeOf([{ ...guess, reference: collection.reference }])).to.equal(10_000);
  });
});
