import { expect } from 'chai';
import {
  type Evidence,
  MAX_EVIDENCE,
  openDiscrepancy,
} from '../../src/domain/discrepancies/discrepancy.ts';
import { supersedeUnknown } from '../../src/domain/discrepancies/supersede-unknown.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  failed,
  newCompletedCollection,
  PAYER,
  RESOLVING,
  succeeded,
  useStore,
} from '../support/world.ts';

const UNKNOWN_REFERENCE = '01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f';

interface Row {
  id: string;
  gateway: string;
  amount_cents: number | null;
  evidence: Evidence[];
  resolution: string | null;
  details: Record<string, unknown>;
}

describe('A discrepancy', () => {
  const store = useStore({ merchant: 'none' });
  let collection: Collection;

  beforeEach(async () => {
    collection = await newCompletedCollection(store.database, await store.newMerchant());
  });

  const found = () =>
    store.rows<Row>('SELECT * FROM discrepancies WHERE payment_id = :id', {
      id: collection.id,
    });

  async function dismiss(id?: string): Promise<void> {
    const [known] = await found();
    const decision = { as: 'dismissed', actor: 'asha', reason: 'known', transId: null } as const;
    await store.transaction((trx) => resolveDiscrepancy(trx, id ?? known!.id, decision, RESOLVING));
  }

  it('is one, however often the same is found', async () => {
    for (let heard = 0; heard < 3; heard += 1) await store.learn(collection, failed());
    expect(await found()).to.have.length(1);
  });

  it('stays resolved when the same is found again', async () => {
    await store.learn(collection, failed());
    await dismiss();
    await store.learn(collection, failed());
    expect(await found()).to.have.length(1);
    expect((await found())[0]).to.include({ resolution: 'dismissed' });
  });

  it('names the gateway of its payment', async () => {
    await store.learn(collection, failed());
    expect((await found())[0]).to.include({ gateway: 'simulator' });
  });

  it('keeps all different findings about a payment while it is open', async () => {
    for (const amountCents of [7_000, 8_000, 7_000]) {
      await store.learn(collection, succeeded({ amountCents }));
    }
    const [row, ...others] = await found();
    expect(others).to.deep.equal([]);
    expect(row!.evidence.map((each) => each.amount_cents)).to.deep.equal([7_000, 8_000]);
    expect(row!.evidence[1]!.details).to.deep.equal({ booked_cents: 10_000, account: PAYER });
  });

  it('is open again when something else is found, with what was decided before', async () => {
    await store.learn(collection, succeeded({ amountCents: 7_000 }));
    await dismiss();
    await store.learn(collection, succeeded({ amountCents: 8_000 }));
    const [row, ...others] = await found();
    expect(others).to.deep.equal([]);
    expect(row).to.include({ resolution: null, amount_cents: 8_000 });
    expect(row!.details.decided_before).to.deep.include({
      as: 'dismissed',
      by: 'asha',
      amount_cents: 7_000,
    });
    await dismiss();
    for (const amountCents of [8_000, 7_000]) {
      await store.learn(collection, succeeded({ amountCents }));
    }
    expect((await found())[0]).to.include({ resolution: 'dismissed' });
  });

  describe('of a movement that no payment here explains', () => {
    let receipt: string;

    beforeEach(() => {
      receipt = newReceipt();
    });

    const lineWith = (amountCents: number, overrides: Partial<StatementLine> = {}) => ({
      ...lineOf(collection, { reference: UNKNOWN_REFERENCE, transId: receipt }),
      amountCents,
      ...overrides,
    });
    const read = (lines: StatementLine[], gateway = 'simulator') =>
      runStatement(store.database, lines, SO_FAR, { gateway, covers: [] });
    const listed = () =>
      store.rows<Row>('SELECT * FROM discrepancies WHERE trans_id = :receipt', { receipt });
    /** The amounts that were found, and whether somebody has decided about each. */
    const amounts = async () =>
      (await listed())[0]!.evidence.map((each) => [each.amount_cents, each.decided]);

    it('shows each different line with its receipt, and the same line once', async () => {
      await read([lineWith(1_000), lineWith(9_000)]);
      await read([lineWith(9_000), lineWith(1_000), lineWith(1_000)]);
      expect(await listed()).to.have.length(1);
      expect(await amounts()).to.deep.equal([
        [1_000, false],
        [9_000, false],
      ]);
    });

    it('stays resolved when any of its lines is read again, and opens anew by a different one', async () => {
      await read([lineWith(1_000), lineWith(9_000)]);
      await dismiss((await listed())[0]!.id);
      await read([lineWith(1_000), lineWith(9_000)]);
      expect((await listed())[0]).to.include({ resolution: 'dismissed' });
      await read([lineWith(4_000), lineWith(1_000)]);
      expect((await listed())[0]).to.include({ resolution: null, amount_cents: 4_000 });
      expect(await amounts()).to.deep.equal([
        [1_000, true],
        [9_000, true],
        [4_000, false],
      ]);
    });

    it('is one for each gateway, since two may use the same receipt', async () => {
      await read([lineWith(1_000)]);
      await read([lineWith(9_000)], 'other');
      const found = await listed();
      expect(
        found.map(({ gateway, amount_cents }) => [gateway, amount_cents]),
      ).to.have.deep.members([
        ['simulator', 1_000],
        ['other', 9_000],
      ]);
    });

    it('keeps all that processes find at once', async () => {
      const cents = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000];
      await Promise.all([...cents, ...cents].map((each) => read([lineWith(each)])));
      expect(await listed()).to.have.length(1);
      expect((await amounts()).map(([each]) => each)).to.have.members(cents);
    });

    it('keeps a limited number of findings, and says that there were more', async () => {
      const lines = Array.from({ length: MAX_EVIDENCE }, (_, index) => lineWith(index + 1));
      await read(lines);
      expect((await listed())[0]).to.include({ evidence_complete: true });
      await read([lineWith(9_000)]);
      const [row] = await listed();
      expect(row!.evidence).to.have.length(MAX_EVIDENCE);
      expect(row).to.include({ evidence_complete: false });
      await dismiss(row!.id);
      await read([lineWith(9_000)]);
      expect((await listed())[0]).to.include({ resolution: null, evidence_complete: true });
      expect((await amounts()).at(-1)).to.deep.equal([9_000, false]);
    });

    it('is superseded only by news that explains all that was found', async () => {
      const explain = () =>
        store.transaction((trx) =>
          supersedeUnknown(trx, {
            gateway: 'simulator',
            references: [UNKNOWN_REFERENCE],
            payment_kind: 'payout',
            trans_id: receipt,
            amount_cents: 1_000,
          }),
        );
      await read([lineWith(1_000), lineWith(9_000)]);
      await explain();
      expect((await listed())[0]).to.include({ resolution: null });
      receipt = newReceipt();
      await read([lineWith(1_000)]);
      await explain();
      expect((await listed())[0]).to.include({ resolution: 'superseded' });
    });
  });

  it('of a callback is the same however often the gateway sends it', async () => {
    const { merchant_id } = await store.newMerchant();
    const payment = { kind: 'payout', merchant_id, id: UNKNOWN_REFERENCE } as const;
    const hear = (callback_id: string, account: string) =>
      store.transaction((trx) =>
        openDiscrepancy(trx, {
          kind: 'unknown_payment',
          gateway: 'simulator',
          payment,
          trans_id: 'TWICE1',
          amount_cents: 1_000,
          details: { callback_id, outcome: 'succeeded', account },
        }),
      );
    expect(await hear('first', PAYER)).to.equal(true);
    expect(await hear('second', PAYER)).to.equal(false);
    expect(await hear('third', '+254722000000')).to.equal(true);
    const [row] = await store.rows<Row>(
      'SELECT * FROM discrepancies WHERE merchant_id = :merchant_id',
      { merchant_id },
    );
    expect(row!.evidence.map(({ details }) => details.callback_id)).to.deep.equal([
      'first',
      'third',
    ]);
  });
});
