import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import { setRoleDefaults } from '../../src/connections/migrations.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { newEvent } from '../support/events.ts';
import { eventually, useStore } from '../support/world.ts';

describe('The settings that the role carries', () => {
  const store = useStore({ merchant: 'none' });

  it('are set while events are being numbered, however long that takes', async () => {
    const { database } = store;
    const merchant = await store.newMerchant();
    await newEvent(database, merchant);
    const inTheWay = await database.transaction();
    await rows(inTheWay, 'INSERT INTO event_sequences VALUES (:merchant_id, 0)', { ...merchant });
    const numbering = prepareDeliveries(database, 0);
    await eventually('the numbering waits', () =>
      firstRow(
        database,
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    );
    const isNew = await setRoleDefaults(database).finally(() => inTheWay.rollback());
    expect(isNew).to.equal(true);
    expect(await numbering).to.equal(1);
    expect(await setRoleDefaults(database)).to.equal(false);
  });
});
