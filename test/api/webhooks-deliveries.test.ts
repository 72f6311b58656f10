import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { rewrite } from '../support/database.ts';
import {
  BAD_AS_OF,
  BAD_DATE,
  BAD_PAGE,
  BAD_PAGE_SIZE,
  BAD_REF_NO,
  expectBadValues,
} from '../support/query-cases.ts';
import { addAttempts, setState } from '../support/webhook-state.ts';
import {
  failed,
  learn,
  newCollection,
  newCompletedCollection,
  newPayout,
  request,
  reversalRequest,
  succeeded,
  useService,
} from '../support/world.ts';

const LIST = '/webhooks/deliveries';
const SHOP = 'http://shop.example';
const MAX_COUNT = 10_000;
const OTHER = 'https://other.example:8443';

describe('The list of webhooks', () => {
  const service = useService();

  const add = (state: Parameters<typeof setState>[2] = {}, callbackUrl?: string) =>
    service.newWebhook(state, callbackUrl);
  const idsAt = async (query = '') => {
    const { status, body } = await service.client.get(`${LIST}?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.count).to.equal(body.results.length);
    return body.results.map(({ id }: { id: string }) => id);
  };

  it('shows each with its payment, its last attempt and its next one', async () => {
    const id = await add({ attempts: 2, dueInMs: 60_000 });
    await addAttempts(service.database, service.merchantId, id, [
      { attempt_no: 1, response_status: null, error: 'timeout' },
      { attempt_no: 2, response_status: 503, answer: 'busy' },
    ]);
    const payment = await service.firstRow<{ id: string; ref_no: string }>(
      'SELECT id, ref_no FROM collections WHERE merchant_id = :merchant_id',
      { merchant_id: service.merchantId },
    );
    const { body } = await service.client.get(LIST);
    expect(body).to.include({ count: 1, next: null, previous: null });
    const [{ created_at, last_attempt_at, next_attempt_at, ...shown }] = body.results;
    expect(shown).to.deep.equal({
      id,
      sequence: 1,
      event: 'transaction.completed',
      type: 'collection',
      payment_id: payment!.id,
      ref_no: payment!.ref_no,
      callback_url: `${SHOP}/hook`,
      status: 'pending',
      attempts: 2,
      delivered_at: null,
      last_status: 503,
      last_error: null,
    });
    for (const time of [created_at, last_attempt_at, next_attempt_at]) {
      expect(time).to.match(/^\d{4}-.*Z$/);
    }
    expect(next_attempt_at > last_attempt_at).to.equal(true);
  });

  it('is newest first, and leaves out events that have no number yet', async () => {
    const first = await add();
    const second = await add();
    await service.newEvent();
    expect(await idsAt()).to.deep.equal([second, first]);
  });

  it('is narrowed by state, event, kind, reference, payment, endpoint and time', async () => {
    const { database } = service;
    const ids = {
      exhausted: await add({ status: 'exhausted' }),
      stopped: await add({ status: 'stopped' }, `${OTHER}/x?key=1`),
      delivered: await add({ status: 'delivered' }),
    };
    const collection = await newCollection(database, service.merchant, { ref_no: 'narrow-1' });
    await learn(database, collection, failed());
    const original = await newCompletedCollection(database, service.merchant);
    const reversal = await createReversal(database, reversalRequest(original));
    await learn(database, reversal, succeeded());
    await learn(
      database,
      await newPayout(database, service.merchant, { ref_no: 'narrow-1' }),
      succeeded(),
    );
    await prepareDeliveries(database, 0);
    const events = await rows<{
      id: string;
      payment_kind: string;
      payment_id: string;
      type: string;
    }>(database, 'SELECT * FROM events WHERE merchant_id = :id ORDER BY created_at DESC', {
      id: service.merchantId,
    });
    const those = (is: (event: (typeof events)[number]) => boolean) =>
      events.filter(is).map(({ id }) => id);
    expect(await idsAt()).to.deep.equal(those(() => true));
    for (const [status, id] of Object.entries(ids)) {
      expect(await idsAt(`status=${status}`), status).to.deep.equal([id]);
    }
    expect(await idsAt('status=pending')).to.deep.equal(
      those(({ id }) => !Object.values(ids).includes(id)),
    );
    for (const type of ['collection', 'payout', 'reversal']) {
      const expected = those(({ payment_kind }) => payment_kind === type);
      expect(expected, type).to.not.deep.equal([]);
      expect(await idsAt(`type=${type}`), type).to.deep.equal(expected);
    }
    expect(await idsAt('event=transaction.failed')).to.deep.equal(
      those(({ type }) => type === 'transaction.failed'),
    );
    expect(await idsAt('ref_no=narrow-1'), 'of both kinds').to.have.length(2);
    expect(await idsAt('ref_no=narrow-1&type=payout')).to.have.length(1);
    expect(await idsAt('ref_no=unknown')).to.deep.equal([]);
    expect(await idsAt(`payment_id=${reversal.id}`)).to.deep.equal(
      those(({ payment_id }) => payment_id === reversal.id),
    );
    expect(await idsAt(`payment_id=${crypto.randomUUID()}`)).to.deep.equal([]);
    expect(await idsAt(`endpoint=${OTHER}`)).to.deep.equal([ids.stopped]);
    expect(await idsAt(`endpoint=${OTHER}&status=delivered`)).to.deep.equal([]);
    expect(await idsAt('date_from=2020-01-01&date_to=9999-12-31')).to.have.length(events.length);
    expect(await idsAt('date_to=2020-01-01')).to.deep.equal([]);
    expect(await idsAt('date_from=9999-01-01')).to.deep.equal([]);
  });

  it('refuses bad values by the name of the parameter', async () => {
    await expectBadValues(service.client, LIST, {
      page: BAD_PAGE,
      page_size: BAD_PAGE_SIZE,
      as_of: BAD_AS_OF,
      status: ['', '0', 'Pending', 'failed'],
      event: ['', 'completed', 'webhook.test'],
      type: ['', 'return', 'Collection'],
      ref_no: BAD_REF_NO,
      payment_id: ['', 'x', '1', `${crypto.randomUUID()}0`],
      endpoint: ['', 'shop.example', `${SHOP}/`, `${SHOP}:80`, 'ftp://shop.example', 'http://a@b'],
      date_from: BAD_DATE,
      date_to: BAD_DATE,
    });
  });

  it('is walked without a repetition or a gap while webhooks are added and delivered', async () => {
    const before: string[] = [];
    for (let n = 0; n < 12; n += 1) before.unshift(await add());
    const seen: string[] = [];
    let address: string | null = `${service.baseUrl}${LIST}?page_size=3&endpoint=${SHOP}`;
    while (address !== null) {
      const { status, body } = await request('GET', address, { access: service.merchant.access });
      expect(status).to.equal(200);
      expect(body.count).to.equal(12);
      seen.push(...body.results.map(({ id }: { id: string }) => id));
      if (body.next) {
        const parameters = new URL(body.next).searchParams;
        expect(Object.fromEntries(parameters)).to.include({ page_size: '3', endpoint: SHOP });
      }
      address = body.next;
      await add();
      // Another state of one that was seen, and of one that was not.
      await setState(service.database, before[0]!, { status: 'delivered' });
      await setState(service.database, before[11]!, { status: 'exhausted' });
    }
    expect(seen).to.deep.equal(before);
  });

  it('counts up to ten thousand, and goes on behind them', async () => {
    const model = await add({ status: 'delivered' });
    await rewrite(
      service.database,
      `WITH added AS (
         INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type,
           callback_url, endpoint, body, sequence)
         SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
           callback_url, endpoint, body, 1000 + n
         FROM events, generate_series(1, CAST(:more AS integer)) AS n
         WHERE merchant_id = :merchant_id AND id = :model
         RETURNING *
       )
       INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, created_at, status)
       SELECT merchant_id, id, endpoint, created_at, 'delivered' FROM added`,
      { model, merchant_id: service.merchantId, more: MAX_COUNT + 104 },
    );
    const { body: hundredth } = await service.client.get(`${LIST}?page=100&page_size=100`);
    expect(hundredth.count).to.equal(MAX_COUNT);
    const { body: next } = await request('GET', hundredth.next, {
      access: service.merchant.access,
    });
    expect(next.results).to.have.length(100);
    const { body: last } = await request('GET', next.next, { access: service.merchant.access });
    expect(last.results).to.have.length(5);
    expect(last.next).to.equal(null);
    for (const page of [101, 102, 103]) {
      const { body: beyond } = await service.client.get(`${LIST}?page=${page}&page_size=100`);
      expect(beyond).to.deep.include({ count: MAX_COUNT, next: null, results: [] });
    }
    const { body: back } = await request('GET', last.previous, { access: service.merchant.access });
    expect(back.results).to.deep.equal(next.results);
  });
});
