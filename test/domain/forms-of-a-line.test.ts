import { expect } from 'chai';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { insertAttempt } from '../../src/domain/submission/attempts.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { newReceipt, runStatement } from '../support/statements.ts';
import { AMOUNT_CENTS, PAYER, RESOLVING, succeeded, useStore } from '../support/world.ts';

const DAY = { from: '2026-11-20', to: '2026-11-20' };
const BY = { requested_by: 'amina@x.example', reason: 'Restore of 20 November' };
const PAID_AT = succeeded().completedAt!;
const MASKED = '+2547*****678';

/** How another statement of the gateway may write the same line. */
const FORMS: Record<string, Partial<StatementLine>> = {
  'with a masked phone': { account: MASKED },
  'without a phone': { account: null },
  'by another clock': { completedAt: new Date(PAID_AT.getTime() + 1_000) },
};

/** What makes it another movement, or another question. */
const OTHERS: Record<string, Partial<StatementLine>> = {
  'another amount': { amountCents: AMOUNT_CENTS + 1 },
  'another phone': { account: '+254799999999' },
  'a reference of ours': { reference: '5b8f4d1e-2a43-4c39-9d0f-6a3b7c1d2e4f' },
};

describe('A line that no payment explains, in the statements of one gateway', () => {
  const store = useStore();

  const reconcile = (source: string, line: StatementLine) =>
    runStatement(
      store.database,
      [line],
      DAY,
      { gateway: `gateway-${store.merchantId}`, covers: [], complete_until: null },
      source,
    );

  const lineOf = (more: Partial<StatementLine> = {}): StatementLine => ({
    ...{ kind: 'collection', reference: null, account: PAYER, amountCents: AMOUNT_CENTS },
    ...{ transId: newReceipt(), completedAt: PAID_AT, ...more },
  });

  async function questionOf({ transId }: StatementLine) {
    const [found] = await store.rows<{
      id: string;
      resolution: string | null;
      account: string | null;
      evidence: { told_by: string; details: { account: string | null } }[];
    }>(
      `SELECT id, resolution, details->>'account' AS account, evidence FROM discrepancies
       WHERE kind = 'unknown_movement' AND trans_id = :transId`,
      { transId },
    );
    return found!;
  }

  async function adopt({ transId }: StatementLine): Promise<void> {
    const request = { merchant_id: store.merchantId, receipts: [transId!] };
    const planned = await planAdoption(store.database, request, RESOLVING);
    await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
  }

  for (const [name, more] of Object.entries(FORMS)) {
    it(`is one question, and can be adopted, when it comes again ${name}`, async () => {
      const line = lineOf();
      await reconcile('gateway', line);
      await reconcile('portal.csv', { ...line, ...more });
      expect((await questionOf(line)).evidence).to.have.length(1);
      await adopt(line);
      expect((await questionOf(line)).resolution).to.equal('adopted');
    });

    it(`stays dismissed when it comes again ${name}`, async () => {
      const line = lineOf();
      await reconcile('gateway', line);
      await store.resolve(await questionOf(line), 'dismissed');
      await reconcile('portal.csv', { ...line, ...more });
      expect((await questionOf(line)).resolution).to.equal('dismissed');
    });
  }

  for (const [name, more] of Object.entries(OTHERS)) {
    it(`is a question again with ${name}`, async () => {
      const line = lineOf();
      await reconcile('gateway', line);
      await store.resolve(await questionOf(line), 'dismissed');
      await reconcile('portal.csv', { ...line, ...more });
      expect(await questionOf(line)).to.include({ resolution: null });
    });
  }

  for (const account of [null, MASKED]) {
    it(`shows the whole phone once a statement has it, after ${account ?? 'none'}`, async () => {
      const line = lineOf({ account });
      await reconcile('portal.csv', line);
      await reconcile('gateway', { ...line, account: PAYER });
      await reconcile('portal.csv', line);
      const { account: shown, evidence } = await questionOf(line);
      expect(shown).to.equal(PAYER);
      expect(evidence.map(({ details }) => details.account)).to.deep.equal([PAYER]);
    });
  }

  it('keeps the phone of a file as the word of the file, if the gateway hides its digits', async () => {
    const line = lineOf();
    const tellers = async () =>
      (await questionOf(line)).evidence.map(({ told_by, details }) => [told_by, details.account]);
    await reconcile('portal.csv', line);
    await reconcile('gateway', { ...line, account: MASKED });
    expect(await tellers()).to.deep.equal([['file', PAYER]]);
    await reconcile('gateway', line);
    expect(await tellers()).to.deep.equal([['statement', PAYER]]);
  });

  it('is two questions at two times when it has no receipt', async () => {
    const line = lineOf({ transId: null, reference: newReceipt() });
    await reconcile('gateway', line);
    await reconcile('portal.csv', { ...line, completedAt: new Date(PAID_AT.getTime() + 1_000) });
    const [found] = await store.rows<{ count: number }>(
      'SELECT jsonb_array_length(evidence) AS count FROM discrepancies WHERE trans_id = :reference',
      { reference: line.reference },
    );
    expect(found!.count).to.equal(2);
  });

  describe('about a payment that is here', () => {
    const OTHER_PHONE = '+254722000111';
    const OTHER_MASKED = '+25472***0111';
    const compare = (line: StatementLine, source?: string) =>
      runStatement(store.database, [line], DAY, { covers: [], complete_until: null }, source);
    const open = async (transId: string | null) =>
      (
        await store.rows<{ kind: string }>(
          'SELECT kind FROM discrepancies WHERE resolved_at IS NULL AND trans_id = :transId ORDER BY kind',
          { transId },
        )
      ).map(({ kind }) => kind);

    async function completed(cause: string) {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await store.learn(collection, succeeded({ transId, externalRef: null }), cause);
      return { collection, line: lineOf({ transId, account: OTHER_PHONE }) };
    }

    it('is dismissed once when it shows another phone than the callback, whole and masked', async () => {
      const { collection, line } = await completed('callback');
      await compare(line);
      await store.resolve(await store.discrepancyOf('other_account', collection), 'dismissed');
      await compare({ ...line, account: OTHER_MASKED }, 'portal.csv');
      expect(await open(line.transId)).to.deep.equal([]);
    });

    it('can be decided when its phone was told masked and whole', async () => {
      for (const forms of [
        [OTHER_PHONE, OTHER_MASKED],
        [OTHER_MASKED, OTHER_PHONE],
      ]) {
        const { collection, line } = await completed('callback');
        for (const account of forms) await compare({ ...line, account });
        await store.resolve(await store.discrepancyOf('other_account', collection), 'undo');
        expect(await store.reread(collection)).to.include({ status: 'failed' });
      }
    });

    it('is one claim on a receipt, which stays dismissed', async () => {
      const { line } = await completed('support');
      const claimant = await store.newCollection({ payfrom: OTHER_PHONE });
      await store.transaction((trx) => insertAttempt(trx, claimant));
      const listed = { ...line, completedAt: new Date() };
      await compare(listed);
      expect(await open(line.transId)).to.deep.equal(['receipt_of_another', 'receipt_of_another']);
      for (let round = 0; round < 2; round += 1) {
        const [next] = await store.rows<{ id: string }>(
          'SELECT id FROM discrepancies WHERE resolved_at IS NULL AND trans_id = :transId LIMIT 1',
          { transId: line.transId },
        );
        await store.resolve(next!, 'dismissed');
      }
      await compare({ ...listed, account: OTHER_MASKED }, 'portal.csv');
      expect(await open(line.transId)).to.deep.equal([]);
    });
  });
});
