import { expect } from 'chai';
import { expectRefusal, newCollection, request, useService } from '../support/world.ts';

const LIST = '/collections/checkouts';

describe('Pages of a list', () => {
  const service = useService();

  /** @returns the ids, oldest first. */
  async function add(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let number = 0; number < count; number += 1) {
      ids.push((await service.newCollection()).id);
    }
    return ids;
  }

  interface Listed {
    count: number;
    next: string | null;
    previous: string | null;
    results: { id: string }[];
  }

  async function open(url: string): Promise<Listed> {
    const { status, body } = await request('GET', url, { access: service.merchant.access });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  const first = (query: string) => open(`${service.baseUrl}${LIST}?${query}`);
  const idsOf = ({ results }: Listed) => results.map(({ id }) => id);

  async function walk(page: Listed, afterEach = async () => {}): Promise<string[]> {
    const seen = idsOf(page);
    for (let { next } = page; next !== null; ) {
      await afterEach();
      const following = await open(next);
      seen.push(...idsOf(following));
      next = following.next;
    }
    return seen;
  }

  it('lead on and back by complete addresses that keep every filter', async () => {
    await add(5);
    const filters = { date_from: '2020-01-01', date_to: '9999-12-31', status: '0' };
    const one = await first(String(new URLSearchParams({ ...filters, page_size: '2' })));
    expect(one).to.include({ count: 5, previous: null });
    const two = await open(one.next!);
    const three = await open(two.next!);
    expect(three.next).to.equal(null);
    for (const [address, page] of [
      [one.next!, '2'],
      [two.next!, '3'],
      [two.previous!, '1'],
      [three.previous!, '2'],
    ] as const) {
      const url = new URL(address);
      expect(url.origin + url.pathname).to.equal(service.baseUrl + LIST);
      expect(Object.fromEntries(url.searchParams)).to.include({ ...filters, page_size: '2', page });
    }
    expect(idsOf(await open(three.previous!))).to.deep.equal(idsOf(two));
    expect(idsOf(await open(two.previous!))).to.deep.equal(idsOf(one));
  });

  it('keep a phone and a reference of the deprecated list', async () => {
    await add(3);
    for (const phone of ['%2B254712345678', '+254712345678', '254712345678']) {
      const url = `${service.baseUrl}/collections/list?phone=${phone}&status=pending&page_size=1`;
      const one = await open(url);
      expect(one.count).to.equal(3);
      expect(await walk(one)).to.have.length(3);
    }
  });

  it('past the end are empty and lead back', async () => {
    await add(3);
    const beyond = await first('page=3&page_size=2');
    expect(beyond).to.include({ count: 3, next: null });
    expect(beyond.results).to.deep.equal([]);
    expect(idsOf(await open(beyond.previous!))).to.have.length(1);
  });

  it('neither repeat nor skip while three writers add records', async () => {
    const before = await add(25);
    let isDone = false;
    const writers = [1, 2, 3].map(async () => {
      while (!isDone) await service.newCollection();
    });
    try {
      const seen = await walk(await first('page_size=4'), async () => {});
      expect(new Set(seen).size).to.equal(seen.length);
      // What was there at the beginning is complete, and in order.
      const known = seen.filter((id) => before.includes(id));
      expect(known).to.deep.equal([...before].reverse());
    } finally {
      isDone = true;
      await Promise.all(writers);
    }
  });

  it('neither repeat nor skip when all records are of the same instant', async () => {
    const ids = await add(11);
    await service.rewrite('UPDATE collections SET created_at = :at WHERE merchant_id = :id', {
      id: service.merchantId,
      at: '2026-03-01T12:00:00.123456Z',
    });
    const seen = await walk(await first('page_size=3'));
    expect(seen).to.deep.equal([...ids].sort().reverse());
  });

  it('tell records apart that are microseconds apart', async () => {
    const ids = await add(6);
    for (const [index, id] of ids.entries()) {
      await service.rewrite('UPDATE collections SET created_at = :at WHERE id = :id', {
        id,
        at: `2026-03-01T12:00:00.00000${index}Z`,
      });
    }
    expect(await walk(await first('page_size=1'))).to.deep.equal([...ids].reverse());
  });

  it('lead back to the same records although others were added', async () => {
    await add(6);
    const one = await first('page_size=2');
    const two = await open(one.next!);
    await add(3);
    const three = await open(two.next!);
    expect(three.count).to.equal(6);
    expect(idsOf(await open(three.previous!))).to.deep.equal(idsOf(two));
    expect(idsOf(await open(two.previous!))).to.deep.equal(idsOf(one));
  });

  it('lead back also when the walk began in the middle', async () => {
    await add(10);
    const three = await first('page_size=2&page=3');
    const four = await open(three.next!);
    expect(four.count).to.equal(10);
    const back = await open(four.previous!);
    expect(idsOf(back)).to.deep.equal(idsOf(three));
    const all = idsOf(await first('page_size=10'));
    expect(idsOf(await open(back.previous!))).to.deep.equal(all.slice(2, 4));
  });

  it('without what next carries are plain offsets', async () => {
    const ids = (await add(5)).reverse();
    for (const [page, expected] of [
      [1, ids.slice(0, 2)],
      [2, ids.slice(2, 4)],
      [3, ids.slice(4)],
    ] as const) {
      expect(idsOf(await first(`page_size=2&page=${page}`))).to.deep.equal(expected);
    }
    const added = (await add(1))[0]!;
    const all = [added, ...ids];
    expect(idsOf(await first('page_size=2&page=2'))).to.deep.equal(all.slice(2, 4));
  });

  it('refuse an as_of that was tampered with, and never fail', async () => {
    await add(3);
    const { next } = await first('page_size=1');
    const genuine = new URL(next!).searchParams.get('as_of')!;
    const text = Buffer.from(genuine, 'base64url').toString();
    const encode = (changed: string) => Buffer.from(changed).toString('base64url');
    for (const bad of [
      genuine.slice(1),
      genuine.slice(0, -8),
      encode(text.replaceAll('-', '_')),
      encode(text.replace(/^\d+/, '1e9')),
      encode(text.replace(/^\d+/, '99999999999999999')),
      encode(text.replace(/^\d+/, '-1')),
      encode(`${text}'`),
      encode(text.replace(/[0-9a-f]{12}/, "' OR true --")),
      encode('{}'),
    ]) {
      const answer = await service.client.get(`${LIST}?page=2&as_of=${bad}`);
      expectRefusal(answer, 400, 'Invalid query parameter: as_of');
    }
    for (const odd of [
      encode(text.replace(/^\d+/, '0')),
      encode(text.replace(/^\d+/, '9999999999999999')),
      encode(text.replace(/\.\d+\./, '.0.')),
      encode(text.replace(/\.\d+\./, '.999999999.')),
    ]) {
      expect((await service.client.get(`${LIST}?page=2&as_of=${odd}`)).status).to.be.below(500);
    }
  });

  it('show nothing of another merchant whose as_of is used', async () => {
    await add(4);
    const { next } = await first('page_size=1');
    const other = await service.newMerchant();
    const own = await newCollection(service.database, other);
    const { status, body } = await request('GET', next!, { access: other.access });
    expect(status).to.equal(200);
    expect(idsOf(body).filter((id) => id !== own.id)).to.deep.equal([]);
  });
});
