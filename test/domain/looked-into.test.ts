import { expect } from 'chai';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import { requireLookedInto } from '../../src/domain/upkeep/restore-progress.ts';
import { runStatement } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import { rejection, succeeded, useStore } from '../support/world.ts';

const MARK = {
  ...{ actor: 'operator', action: 'restore.mark', reason: 'Restore', merchant_id: null },
  ...{ subject: 'database', details: {} },
};
const ALL = ['collection', 'payout', 'reversal'] as const;

describe('A restored database whose newest payment is of four days ago', () => {
  const store = useStore({ fresh: true });
  const { day } = toldIn(store);
  const look = () =>
    store.transaction((trx) => requireLookedInto(trx, [{ gateway: 'simulator', channel: 63902 }]));
  const compare = async (from: number, to: number, covers: readonly (typeof ALL)[number][]) => {
    // Not before the mark, whose time is told in microseconds.
    const complete_until = new Date(
      Math.min(Date.now() + 1, Date.parse(`${day(to + 1)}T00:00:00Z`)),
    );
    const period = { from: day(from), to: day(to) };
    await runStatement(store.database, [], period, { covers, complete_until }, `${from}.csv`);
    await store.rows("UPDATE statement_imports SET result = '{}' WHERE result IS NULL");
  };

  beforeEach(async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded({ transId: 'R1' }));
    await store.rewrite(`UPDATE collections SET created_at = created_at - interval '4 days'`);
    await store.transaction((trx) => recordAudit(trx, MARK));
  });

  it('is looked into when statements list each day since then, of returns as well', async () => {
    await compare(0, 0, ALL);
    expect((await rejection(look())).message).to.include(`has all collections from ${day(-4)}`);
    await compare(-4, -2, ALL);
    expect((await rejection(look())).message).to.include(`has all collections from ${day(-1)}`);
    await compare(-1, 0, ['collection']);
    expect((await rejection(look())).message).to.include(`has all reversals from ${day(-1)}`);
    await compare(-1, 0, ALL);
    await look();
  });

  it('is not looked into by the file of one member', async () => {
    await compare(-4, 0, ALL);
    const brought = (agreed_by: string | null) =>
      store.rewrite(
        "UPDATE statement_imports SET brought_by = 'amina@x.example', agreed_by = :agreed_by",
        { agreed_by },
      );
    await brought(null);
    expect((await rejection(look())).message).to.include('has all collections');
    await brought('baraka@x.example');
    await look();
  });
});
