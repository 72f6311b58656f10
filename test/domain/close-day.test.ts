import { expect } from 'chai';
import { hearBalances } from '../../src/domain/gateway-accounts/balances.ts';
import { closeDays, listClosedDays } from '../../src/domain/gateway-accounts/close-day.ts';
import { proveWorld } from '../../src/domain/gateway-accounts/prove-world.ts';
import { succeeded, useStore } from '../support/world.ts';

describe('The end of a day', () => {
  const store = useStore();

  const tell = (cents: number) =>
    hearBalances(
      store.database,
      'simulator',
      [{ sub_account: 'utility', current_cents: cents, available_cents: cents }],
      new Date(Date.now() + 60_000),
    );
  const gateways = [{ name: 'simulator', float: {} }];
  const closeAll = () => closeDays(store.database, gateways);
  const close = async () => (await closeAll())[0] ?? null;
  const openAgain = () => store.owner.raw('DELETE FROM closed_days');

  it('closes no day while no gateway has told a balance', async () => {
    expect(await close()).to.equal(null);
  });

  it('agrees, and is closed once by processes that run at once', async () => {
    await tell(0);
    const closed = (await Promise.all([close(), close(), close()])).filter((day) => day !== null);
    expect(closed).to.have.length(1);
    expect(closed[0]).to.deep.include({ agrees: true, differences: [], untold: [] });
    const [row] = await store.rows<{ day: string }>(
      `SELECT CAST(CAST(now() AT TIME ZONE 'Africa/Nairobi' - interval '6 hours' AS date) - 1
         AS text) AS day`,
    );
    expect(closed[0]!.day).to.equal(row!.day);
    expect(await close()).to.equal(null);
    expect(await listClosedDays(store.database, 7)).to.deep.equal(closed);
    await openAgain();
  });

  it('is closed for each day that nobody was there to close, the oldest first', async () => {
    await tell(0);
    await store.owner.raw(
      `INSERT INTO closed_days (day, agrees, differences, untold)
       SELECT CAST(now() AT TIME ZONE 'Africa/Nairobi' - interval '6 hours' AS date) - 34,
         true, '[]', '{}'`,
    );
    const [first, ...rounds] = [await closeAll(), await closeAll(), await closeAll()];
    expect(rounds.map(({ length }) => length)).to.deep.equal([2, 0]);
    const closed = [...first!, ...rounds.flat()].map(({ day }) => day);
    expect(closed).to.have.length(33);
    expect(closed).to.deep.equal([...closed].sort());
    expect(await closeAll()).to.deep.equal([]);
    await openAgain();
  });

  it('agrees, and names the gateways that cannot tell a balance', async () => {
    await tell(0);
    const [closed] = await closeDays(store.database, [...gateways, { name: 'no-float' }]);
    expect(closed).to.deep.include({ agrees: true, untold: ['no-float'] });
    await openAgain();
  });

  it('names each difference with what may explain it', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded({ externalRef: null }), 'support');
    await tell(0);
    const closed = await close();
    expect(closed).to.include({ agrees: false });
    expect(closed!.differences).to.have.length(1);
    expect(closed!.differences[0]).to.include({ gateway: 'simulator', difference_cents: -10_000 });
    expect(closed!.differences[0]!.candidates[0]).to.include({
      what: 'decided by hand',
      id: collection.id,
    });
    await openAgain();
    await store.rewrite(`UPDATE movements SET told_by = 'file' WHERE payment_id = :id`, collection);
    expect((await close())!.differences[0]!.candidates[0]).to.include({ what: 'decided by hand' });
    await openAgain();
  });

  it('does not agree if a gateway had told no balance for an hour', async () => {
    await store.owner.raw("UPDATE balance_proofs SET told_at = told_at - interval '2 hours'");
    await tell(10_000);
    await store.owner.raw("UPDATE balance_proofs SET told_at = told_at - interval '2 hours'");
    expect(await close()).to.deep.include({
      agrees: false,
      differences: [],
      untold: ['simulator'],
    });
    await openAgain();
  });

  it('counts an old balance as not told: of one account, and of a gateway that was removed', async () => {
    const { database } = store;
    const balance = { current_cents: 7, available_cents: 7 };
    await hearBalances(database, 'simulator', [{ sub_account: 'working', ...balance }]);
    await hearBalances(database, 'removed', [{ sub_account: 'utility', ...balance }]);
    expect((await proveWorld(database, gateways)).differences).to.have.length(2);
    await store.owner.raw("UPDATE balance_proofs SET told_at = told_at - interval '2 hours'");
    await tell(10_000);
    const proof = await proveWorld(database, gateways);
    expect(proof).to.deep.include({
      ...{ differences: [], untold: ['simulator working'], silent: ['removed'] },
    });
    expect(proof.balances.map(({ is_told }) => is_told)).to.deep.equal([false, true, false]);
    expect(await close()).to.deep.include({
      ...{ agrees: false, untold: ['simulator working', 'removed'] },
    });
  });
});
