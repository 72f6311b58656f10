import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { listDeeds, withDeedsTable } from '../../scripts/deeds-table.ts';

describe('The table of what staff can do', () => {
  it('is in SECURITY.md as the operations say (npm run deeds)', async () => {
    const document = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    expect(await withDeedsTable(document)).to.equal(document);
  });

  it('has a door for each deed', async () => {
    const deeds = await listDeeds();
    const closed = deeds.filter(({ doors }) => doors.length === 0);
    expect(closed.map(({ operation }) => operation.name)).to.deep.equal([]);
    expect(deeds.map(({ operation }) => operation.name)).to.include.members([
      ...['wallet.topup', 'discrepancy.resolve', 'staff.new-token', 'reconcile.run'],
    ]);
  });

  it('says of each deed with a second person when one is needed', async () => {
    const silent = (await listDeeds()).filter(
      ({ operation: { approval, twoPeople } }) => approval && !twoPeople,
    );
    expect(silent.map(({ operation }) => operation.name)).to.deep.equal([]);
  });
});
