import { expect } from 'chai';
import { notCovered } from '../../src/domain/reconciliation/coverage.ts';
import {
  FROM_GATEWAY,
  importStatement,
  type LINE_KINDS,
} from '../../src/domain/reconciliation/statement.ts';
import { DAY_MS, HOUR_MS } from '../../src/time.ts';
import { useStore } from '../support/world.ts';

/** Midnight in UTC, so many days ago. */
const dayAt = (daysAgo: number) =>
  new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - daysAgo * DAY_MS);
const dayOf = (daysAgo: number) => dayAt(daysAgo).toISOString().slice(0, 10);

describe('What the statements of the last days leave out', () => {
  const store = useStore({ fresh: true });
  let gateway = '';

  beforeEach(() => {
    gateway = `gateway-${store.merchantId}`;
  });

  /** A statement of whole days, complete until an hour, that was compared. @returns the holes that it names */
  async function compared(
    [from, to]: [number, number],
    until: Date | null,
    covers: readonly (typeof LINE_KINDS)[number][] = ['collection'],
    brought_by: string | null = null,
  ): Promise<string[]> {
    const period = { from: dayOf(from), to: dayOf(to) };
    const of = { gateway, channel: 63902, period, covers, complete_until: until };
    const import_id = await store.transaction((trx) =>
      importStatement(trx, { ...of, source: FROM_GATEWAY, brought_by, lines: [] }),
    );
    const open = await notCovered(store.database, { ...of, import_id }, []);
    await store.rows(`UPDATE statement_imports SET result = '{}' WHERE id = :import_id`, {
      import_id,
    });
    return open.filter((line) => line.includes(' has every '));
  }

  const agree = () =>
    store.rows(`UPDATE statement_imports SET agreed_by = 'ben@malipo.example'
      WHERE brought_by IS NOT NULL`);

  const hole = (kind: string, since: Date, until: Date, whose = 'No statement') =>
    `${whose} has every ${kind} from ${since.toISOString()} until ${until.toISOString()}`;
  const hours = (daysAgo: number, hour: number) =>
    new Date(dayAt(daysAgo).getTime() + hour * HOUR_MS);

  it('is nothing when each statement begins before the one before has ended', async () => {
    expect(await compared([4, 3], hours(3, 22))).to.deep.equal([]);
    expect(await compared([3, 2], hours(2, 22))).to.deep.equal([]);
  });

  it('is two hours of each night if a schedule in Nairobi names its own days', async () => {
    await compared([4, 3], hours(3, 22), ['collection', 'payout']);
    const night = ['collection', 'payout'].map((kind) => hole(kind, hours(3, 22), dayAt(2)));
    expect(await compared([2, 1], hours(1, 22), ['collection', 'payout'])).to.deep.equal(night);
  });

  it('is not what a later statement has, and another kind is another thing', async () => {
    await compared([4, 3], hours(3, 22));
    await compared([2, 1], hours(1, 22));
    expect(await compared([3, 3], dayAt(2), ['payout'])).to.deep.equal([]);
    expect(await compared([3, 1], hours(1, 23))).to.deep.equal([]);
  });

  it('begins with the first statement, and is forgotten after a week', async () => {
    expect(await compared([2, 1], hours(1, 22))).to.deep.equal([]);
    await compared([20, 19], hours(19, 22));
    expect(await compared([1, 1], hours(1, 23))).to.deep.equal([]);
  });

  it('is told apart from hours of which one person alone has brought the file', async () => {
    await compared([5, 5], dayAt(4), ['payout'], 'anna@malipo.example');
    await compared([3, 3], dayAt(2), ['payout'], 'anna@malipo.example');
    const ofOne = (since: Date, until: Date) =>
      hole('payout', since, until, 'Only a file to which nobody else agreed');
    const [fifth, fourth] = [ofOne(dayAt(5), dayAt(4)), hole('payout', dayAt(4), dayAt(3))];
    const named = [fifth, fourth, ofOne(dayAt(3), dayAt(2))];
    expect(await compared([2, 2], dayAt(1), ['payout'], 'anna@malipo.example')).to.deep.equal(
      named,
    );
    await agree();
    expect(await compared([2, 2], dayAt(1), ['payout'], 'anna@malipo.example')).to.deep.equal([
      fourth,
    ]);
  });

  it('is no hour of a day of which nobody said how far its file goes', async () => {
    await compared([3, 3], null);
    expect(await compared([2, 2], null)).to.deep.equal([]);
  });
});
