import { expect } from 'chai';
import { version as uuidVersion } from 'uuid';
import { rows } from '../../src/connections/database.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { pollPayment } from '../../src/workers/steps.ts';
import { submitPayment } from '../../src/workers/submission.ts';
import {
  createTestStore,
  eventually,
  newCollection,
  newCompletedCollection,
  newPayout,
  request,
  reread,
  reversalRequest,
  type TestStore,
  useService,
  useStore,
} from '../support/world.ts';

describe('The reference that a gateway sees', () => {
  const service = useService({ merchant: 'none' });
  const backup = useStore({ merchant: 'all' });
  let paid: Collection;

  before(async () => {
    paid = await newCompletedCollection(backup.database, backup.merchant);
    // Only a database without connections can be copied.
    await backup.database.destroy();
  });

  it('differs by installation, merchant, kind and ref_no, and is a UUID of version 8', async () => {
    const { database } = service;
    const referenceOf = async (merchantId: number, kind: string, refNo: string) => {
      const [row] = await rows<{ reference: string }>(
        database,
        'SELECT gateway_reference(:merchantId, :kind, :refNo) AS reference',
        { merchantId, kind, refNo },
      );
      return row!.reference;
    };
    const named: Parameters<typeof referenceOf>[] = [
      [1001, 'payout', 'a'],
      [1002, 'payout', 'a'],
      [1001, 'collection', 'a'],
      [1001, 'payout', 'b'],
    ];
    const references = await Promise.all(named.map((each) => referenceOf(...each)));
    const { owner } = service;
    await rows(owner, 'ALTER TABLE installation DISABLE TRIGGER installation_kept');
    await rows(owner, 'UPDATE installation SET id = gen_random_uuid()');
    references.push(await referenceOf(...named[0]!));
    expect(new Set(references).size).to.equal(references.length);
    for (const reference of references) {
      expect(uuidVersion(reference)).to.equal(8);
    }
  });

  const movements = async () =>
    (await request('GET', `${service.simulatorUrl}/statement`)).body as { reference: string }[];

  const ACCEPT: Record<string, (store: TestStore) => Promise<AnyPayment>> = {
    collection: ({ database }) => newCollection(database, backup.merchant, { ref_no: 'again' }),
    payout: ({ database }) => newPayout(database, backup.merchant, { ref_no: 'again' }),
    reversal: ({ database }) =>
      createReversal(database, reversalRequest(paid, { ref_no: 'again' })),
  };

  for (const [kind, accept] of Object.entries(ACCEPT)) {
    it(`makes a gateway that takes each reference once pay a ${kind} once, when a restored database accepts it again`, async () => {
      const before = (await movements()).length;
      for (const world of ['lost', 'restored']) {
        const store = await createTestStore(backup.name);
        const { database } = store;
        const payment = await accept(store);
        await submitPayment({ ...service, database }, refOf(payment), 1);
        await eventually(`its end in the ${world} world`, async () => {
          const { status, step_no } = await reread(database, payment);
          if (status === 'completed') return true;
          await pollPayment({ ...service, database }, refOf(payment), step_no);
          return false;
        });
        await store.drop();
      }
      expect(await movements()).to.have.length(before + 1);
    });
  }
});
