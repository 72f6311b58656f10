import { expect } from 'chai';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { rewrite } from '../support/database.ts';
import { BAD_PAGE_SIZE, expectBadValues } from '../support/query-cases.ts';
import { request, useService } from '../support/world.ts';

const AT_ONCE = 50;
const MAX_COUNT = 10_000;

interface Event {
  id: string;
  sequence: number;
  payload: { data: { id: string } };
}

describe('The feed of events', () => {
  const service = useService();

  async function add(count: number): Promise<string[]> {
    const ids = [];
    for (let n = 0; n < count; n += 1) ids.push(await service.newEvent());
    await prepareDeliveries(service.database, 0);
    return ids;
  }

  const read = async (query = '') => {
    const { status, body } = await service.client.get(`/events?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const idsOf = ({ results }: { results: Event[] }) => results.map(({ id }) => id);

  it('has each event with the body of its webhook, ascending, and no webhook’s state', async () => {
    const ids = await add(2);
    const feed = await read();
    expect(feed).to.include({ count: 2, next: null, previous: null });
    const [{ created_at, ...first }, second] = feed.results;
    const [stored] = await service.rows<{ body: string; payment_id: string; ref_no: string }>(
      `SELECT e.body, e.payment_id, c.ref_no FROM events e JOIN collections c ON c.id = e.payment_id
       WHERE e.id = :id`,
      { id: ids[0] },
    );
    expect(first).to.deep.equal({
      id: ids[0],
      sequence: 1,
      event: 'transaction.completed',
      type: 'collection',
      payment_id: stored!.payment_id,
      ref_no: stored!.ref_no,
      payload: JSON.parse(stored!.body),
    });
    expect(created_at).to.match(/^\d{4}-.*Z$/);
    expect([second.id, second.sequence]).to.deep.equal([ids[1], 2]);
  });

  it('goes on after the number that the reader remembers, or by next', async () => {
    const ids = await add(5);
    const one = await read('page_size=2');
    expect(one.count).to.equal(5);
    const address = new URL(one.next);
    expect(address.origin + address.pathname).to.equal(`${service.baseUrl}/events`);
    expect(Object.fromEntries(address.searchParams)).to.deep.equal({ after: '2', page_size: '2' });
    const two = (await request('GET', one.next, { access: service.merchant.access })).body;
    expect(two.count, 'what follows').to.equal(3);
    const three = (await request('GET', two.next, { access: service.merchant.access })).body;
    expect(three.next).to.equal(null);
    expect([one, two, three].flatMap(idsOf)).to.deep.equal(ids);
    expect(idsOf(await read('after=3'))).to.deep.equal(ids.slice(3));
    for (const after of ['5', '999999999999999']) {
      const end = { count: 0, next: null, previous: null, results: [] };
      expect(await read(`after=${after}`)).to.deep.equal(end);
    }
  });

  it('has no event before it has a number', async () => {
    const [id] = await add(1);
    await service.newEvent();
    expect(idsOf(await read())).to.deep.equal([id]);
  });

  it('leaves no gap while many payments end at once and events are numbered', async () => {
    const seen: Event[] = [];
    let isDone = false;
    const reader = (async () => {
      for (let highest = 0; ; ) {
        const wasDone = isDone;
        const { results } = await read(`after=${highest}&page_size=7`);
        seen.push(...results);
        highest = seen.at(-1)?.sequence ?? 0;
        if (wasDone && results.length === 0) return;
      }
    })();
    const dispatcher = (async () => {
      while (!isDone) await prepareDeliveries(service.database, 0);
    })();
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => service.newEvent()));
    while ((await prepareDeliveries(service.database, 0)) > 0);
    isDone = true;
    await Promise.all([reader, dispatcher]);
    expect(seen.map(({ sequence }) => sequence)).to.deep.equal(
      Array.from({ length: AT_ONCE }, (_, n) => n + 1),
    );
    expect(seen.map(({ id }) => id)).to.have.members(ids);
  });

  it('counts up to ten thousand', async () => {
    const [model] = await add(1);
    await rewrite(
      service.database,
      `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url,
         endpoint, body, sequence)
       SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
         callback_url, endpoint, body, 1000 + n
       FROM events, generate_series(1, CAST(:more AS integer)) AS n
       WHERE merchant_id = :merchant_id AND id = :model`,
      { model, merchant_id: service.merchantId, more: MAX_COUNT + 5 },
    );
    expect((await read('page_size=1')).count).to.equal(MAX_COUNT);
    expect((await read('page_size=1&after=1006')).count).to.equal(MAX_COUNT - 1);
  });

  it('refuses bad values by the name of the parameter', async () => {
    await expectBadValues(service.client, '/events', {
      after: ['-1', '1.5', 'x', '', ' 1', '1e3', '0x1', '1000000000000000', '%00'],
      page_size: BAD_PAGE_SIZE,
    });
  });
});
