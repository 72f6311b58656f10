import { expect } from 'chai';
import { databaseProblem } from '../../src/connections/readiness.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { sumOf, watch } from '../support/metrics.ts';
import { makeReadOnly, makeWritable } from '../support/read-only.ts';
import { eventually, newCollection, useStore } from '../support/world.ts';

const READ_ONLY = /^DATABASE_URL can only be read: default_transaction_read_only is on/;

describe('A database that can be read but not written', () => {
  const store = useStore({ merchant: 'none' });

  before(async () => {
    await newCollection(store.database, await store.newMerchant());
    await makeReadOnly(store.url);
  });

  it('is good for reading alone, and the reason is one line', async () => {
    // A connection that was ended may be found out only when it is used.
    await eventually('a new connection', async () =>
      READ_ONLY.test((await databaseProblem(store.database)) ?? ''),
    );
    expect(await databaseProblem(store.database, 'read')).to.equal(null);
  });

  it('counts as down for the alert, while all that is in it is shown', async () => {
    const watching = watch(store.parts());
    const samples = await watching.scrape();
    await watching.close();
    expect(sumOf(samples, 'malipo_database_up')).to.equal(0);
    expect(sumOf(samples, 'malipo_payments_open', { kind: 'collection' })).to.equal(1);
    expect(sumOf(samples, 'malipo_reading_failures_total')).to.equal(0);
  });

  it('is up again as soon as it can be written', async () => {
    await makeWritable(store.url);
    await eventually('it to be up', async () => (await databaseProblem(store.database)) === null);
    await makeReadOnly(store.url);
  });
});

describe('The command line on a database that can only be read', () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    await createMerchant(admin.database, { ...details, approved: false });
    await makeReadOnly(admin.url);
  });

  after(() => admin.close());

  it('reads, and says that the audit log does not have it', async () => {
    const { status, stdout, stderr } = await admin.run('merchant list');
    expect([status, stderr]).to.deep.equal([
      0,
      'The database can only be read, so the audit log does not have this read\n',
    ]);
    expect(stdout).to.include('Duka');
    expect(await admin.reads()).to.deep.equal([]);
    expect(await admin.text('channel list')).to.include('M-PESA');
  });

  it('changes nothing, and says why in one line', async () => {
    await admin.refused([
      [
        'channel pause --channel 63902',
        /^The database failed: cannot execute \w+ in a read-only transaction\. /,
      ],
    ]);
  });
});
