import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { ParserOf, Verdict } from '../../src/domain/gateway-results.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { DAY_MS } from '../../src/time.ts';
import { newReceipt } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const PHONE = '+254711000111';
const STRANGER = '+254722000222';
const BY = { requested_by: 'amina@x.example', reason: 'Restore' };
const KINDS = ['collection', 'payout'] as const;

describe('News under the name of adopted money', () => {
  const store = useStore({ fresh: true });
  const { at, read } = toldIn(store);
  let receipt: string;

  beforeEach(async () => {
    receipt = newReceipt();
    await store.topUp(1_000_000, 'more');
  });

  const line = (kind: StatementLine['kind'], more: Partial<StatementLine> = {}): StatementLine => ({
    ...{ kind, reference: null, account: PHONE, amountCents: 10_000, transId: receipt },
    ...{ completedAt: at(1), ...more },
  });
  const inFile = (...lines: StatementLine[]) => read(lines, `${newReceipt()}.csv`);

  const plan = (name: string) =>
    planAdoption(store.database, { merchant_id: store.merchantId, receipts: [name] }, RESOLVING);

  async function adopt(of: StatementLine): Promise<void> {
    await inFile(of);
    const planned = await plan(of.transId ?? of.reference!);
    await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
    await inFile(of);
    expect(await open()).to.deep.equal([]);
  }

  const open = async () =>
    (
      await store.rows<{ kind: string }>(
        'SELECT kind FROM discrepancies WHERE resolved_at IS NULL ORDER BY kind',
      )
    ).map(({ kind }) => kind);

  /** The gateway posts it to the address of a payment that the database has forgotten. */
  async function post(
    verdict: Verdict,
    {
      kind = 'payout',
      merchant_id = store.merchantId,
      id = randomUUID(),
      reference = null,
    }: {
      kind?: (typeof KINDS)[number];
      merchant_id?: number;
      id?: string;
      reference?: string | null;
    } = {},
  ): Promise<void> {
    const kept = await store.keepCallback('simulator', { kind, merchant_id, id }, '{}');
    const callback = await findStoredCallback(store.database, merchant_id, kept);
    const parserOf: ParserOf = () => () => ({ reference, verdict });
    await processCallback(store.database, callback!, parserOf);
  }

  for (const kind of KINDS) {
    it(`is a question about a ${kind} if a line shows another account`, async () => {
      await adopt(line(kind));
      await read([line(kind, { account: STRANGER })], FROM_GATEWAY);
      expect(await open()).to.deep.equal(['unknown_movement']);
    });

    it(`is a question about a ${kind} known by its reference if a line has another time or account`, async () => {
      for (const [reference, other] of [
        [`RENT-${receipt}`, { completedAt: new Date(at(1).getTime() + DAY_MS / 2) }],
        [randomUUID(), { account: STRANGER }],
      ] as const) {
        const before = (await open()).length;
        const adopted = line(kind, { reference, transId: null });
        await inFile(adopted);
        const planned = await plan(reference);
        await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
        await inFile({ ...adopted, ...other });
        expect(await open()).to.have.length(before + 1);
      }
    });

    it(`is a question if a callback of another merchant tells the ${kind}`, async () => {
      await adopt(line(kind));
      const { merchant_id } = await store.newMerchant({ token: false });
      await post(succeeded({ transId: receipt, externalRef: null, account: PHONE }), {
        ...{ kind, merchant_id },
      });
      const [found] = await store.rows<{ kind: string; booked_for: string }>(
        `SELECT kind, details->>'booked_for' AS booked_for FROM discrepancies WHERE resolved_at IS NULL`,
      );
      expect(found).to.include({ kind: 'unknown_payment' });
      expect(found!.booked_for).to.include(`of merchant ${store.merchantId}`);
    });
  }

  it('is a question if a statement shows two accounts under a receipt that was adopted without one', async () => {
    await adopt(line('payout', { account: null }));
    await read([line('payout'), line('payout', { account: STRANGER })], FROM_GATEWAY);
    expect(await open()).to.deep.equal(['unknown_movement']);
  });

  it('is a question if the gateway’s statement calls the payout a reversal', async () => {
    await adopt(line('payout'));
    await read([line('reversal')], FROM_GATEWAY);
    expect(await open()).to.deep.equal(['unknown_movement']);
  });

  for (const isNamed of [true, false]) {
    it(`is a question if a callback says that the payout has failed, ${isNamed ? 'under' : 'without'} its reference`, async () => {
      const reference = randomUUID();
      await adopt(line('payout', { reference }));
      await post(failed({ externalRef: null }), { reference: isNamed ? reference : null });
      expect(await open()).to.deep.equal(['unknown_payment']);
    });
  }

  it('is no question if it says that another payment has failed', async () => {
    await adopt(line('payout', { reference: randomUUID() }));
    await post(failed({ externalRef: null }), { reference: randomUUID() });
    await post(failed({ externalRef: null }), { kind: 'collection' });
    expect(await open()).to.deep.equal([]);
  });

  it('keeps money from being adopted of which the gateway has said since that it failed', async () => {
    const id = randomUUID();
    const news = succeeded({ transId: receipt, externalRef: null, account: PHONE });
    await post(news, { id });
    await post(failed({ externalRef: null }), { id });
    expect(await open()).to.deep.equal(['unknown_payment', 'unknown_payment']);
    expect((await rejection(plan(receipt))).message).to.include('called its payment failed');
  });
});
