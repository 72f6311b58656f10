import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { onceByKey } from '../../src/domain/idempotency.ts';
import {
  type Answer,
  collectionBody,
  eventually,
  expectRefusal,
  payoutBody,
  rejection,
  useService,
} from '../support/world.ts';

const INITIATE = '/collections/checkouts/initiate';
const REUSED = 'Idempotency key was used with a different request';
const RUNNING = 'A request with this idempotency key is still running';
const TAKEN = 'Reference number already exists';
const AT_ONCE = 50;

describe('An Idempotency-Key', () => {
  const service = useService();

  const initiate = (body: unknown, key?: string, { access } = service.merchant) =>
    service.clientOf({ access }).post(INITIATE, body, key ? { 'idempotency-key': key } : {});
  const recorded = () =>
    service.countOf('collections WHERE merchant_id = :id', { id: service.merchantId });
  const kept = () =>
    service.countOf('idempotency_keys WHERE merchant_id = :id', {
      id: service.merchantId,
    });

  function expectReplay(answer: Answer, first: Answer): void {
    expect([answer.status, answer.body]).to.deep.equal([200, first.body]);
    expect(answer.headers.get('idempotent-replayed')).to.equal('true');
  }

  it('repeats the first answer, and does nothing more', async () => {
    const body = collectionBody();
    const first = await initiate(body, 'k1');
    expect(first.status).to.equal(200);
    expect(first.headers.get('idempotent-replayed')).to.equal(null);
    for (let time = 0; time < 3; time += 1) expectReplay(await initiate(body, 'k1'), first);
    expect(await recorded()).to.equal(1);
    expect(await service.countOf('outbox WHERE row_id = :id', { id: first.body.id })).to.equal(1);
  });

  it('costs no statement of its own: one records the payment and keeps the key', async () => {
    await service.topUp(100_000, 'x');
    const statements: string[] = [];
    const note = ({ sql }: { sql: string }) => {
      if (!sql.includes('malipo_bell')) statements.push(sql);
    };
    for (const [path, body] of [
      [INITIATE, collectionBody()],
      ['/payouts/initiate', payoutBody(service.merchant)],
    ] as const) {
      const post = () => service.client.post(path, body, { 'idempotency-key': 'k1' });
      service.database.on('query', note);
      const first = await post();
      service.database.removeListener('query', note);
      // The token, and everything else.
      expect(statements.splice(0)).to.have.length(2);
      expectReplay(await post(), first);
    }
  });

  it('repeats the answer as it was, whatever became of the record', async () => {
    const body = collectionBody();
    const first = await initiate(body, 'k1');
    await service.rows(`UPDATE collections SET status = 'processing' WHERE id = :id`, {
      id: first.body.id,
    });
    expectReplay(await initiate(body, 'k1'), first);
  });

  it('knows the same request in another order and with fields that do not count', async () => {
    const body = collectionBody();
    const first = await initiate(body, 'k1');
    const reversed = Object.fromEntries(Object.entries(body).reverse());
    expectReplay(await initiate({ ...reversed, unknown: 1, app_code: null }, 'k1'), first);
  });

  it('is refused with another body', async () => {
    const body = collectionBody();
    await initiate(body, 'k1');
    for (const [field, value] of [
      ['amount', '100.01'],
      ['ref_no', 'another'],
      ['account_number', 'INV-2'],
      ['payfrom', '+254712345679'],
      ['callback_url', 'http://127.0.0.1:9/other'],
    ] as const) {
      expectRefusal(await initiate({ ...body, [field]: value }, 'k1'), 422, REUSED);
    }
    expect(await recorded()).to.equal(1);
  });

  it('is looked up only when the body is right', async () => {
    await initiate(collectionBody(), 'k1');
    expectRefusal(await initiate(collectionBody({ amount: '1' }), 'k1'), 400, 'Invalid amount');
    expectRefusal(await initiate('{', 'k1'), 400, 'JSON parse error');
  });

  it(`yields one record of ${AT_ONCE} identical requests at once`, async () => {
    const body = collectionBody();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => initiate(body, 'k1')));
    const done = answers.filter(({ status }) => status === 200);
    const first = done.filter(({ headers }) => headers.get('idempotent-replayed') === null);
    expect(first).to.have.length(1);
    for (const answer of done) expect(answer.body).to.deep.equal(first[0]!.body);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 409, RUNNING);
    }
    expect(await recorded()).to.equal(1);
    expectReplay(await initiate(body, 'k1'), first[0]!);
  });

  it(`is not needed for ${AT_ONCE} identical requests at once to yield one record`, async () => {
    const body = collectionBody();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => initiate(body)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 409, TAKEN);
    }
    expect(await recorded()).to.equal(1);
  });

  it('of its own for each of several requests with one reference yields one record', async () => {
    const body = collectionBody();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => initiate(body, `k${index}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 409, TAKEN);
    }
    expect([await recorded(), await kept()]).to.deep.equal([1, 1]);
  });

  it('is free again after a refusal', async () => {
    const body = collectionBody();
    expectRefusal(await initiate({ ...body, amount: '1' }, 'k1'), 400, 'Invalid amount');
    await initiate(body);
    expectRefusal(await initiate(body, 'k1'), 409, TAKEN);
    expect(await kept()).to.equal(0);
    expect((await initiate(collectionBody(), 'k1')).status).to.equal(200);
  });

  it('is free again after 48 hours', async () => {
    const body = collectionBody();
    const first = await initiate(body, 'k1');
    const age = (hours: number) =>
      service.rows(
        `UPDATE idempotency_keys SET created_at = now() - ${hours} * interval '1 hour'
         WHERE merchant_id = :id`,
        { id: service.merchantId },
      );
    await age(47.9);
    expectReplay(await initiate(body, 'k1'), first);
    await age(48.1);
    const another = collectionBody();
    const second = await initiate(another, 'k1');
    expect(second.status).to.equal(200);
    expectReplay(await initiate(another, 'k1'), second);
  });

  it('belongs to its merchant, with all of its apps, and to its path', async () => {
    const body = collectionBody();
    const first = await initiate(body, 'k1');
    const other = await service.newMerchant();
    const theirs = await initiate(body, 'k1', other);
    expect([theirs.status, theirs.headers.get('idempotent-replayed')]).to.deep.equal([200, null]);
    expect(theirs.body.id).to.not.equal(first.body.id);
    const app = await service.newApp();
    expectReplay(await initiate(body, 'k1', { ...service.merchant, access: app.access }), first);
    const transferred = await service.client.post(
      '/wallets/transfers',
      { amount: '1.00', ref_no: 'T1' },
      { 'idempotency-key': 'k1' },
    );
    expectRefusal(transferred, 400, 'Insufficient balance in collection wallet');
  });

  it('is looked up only for who may do this', async () => {
    const body = collectionBody();
    await initiate(body, 'k1');
    await service.rows('UPDATE apps SET active = false WHERE merchant_id = :id', {
      id: service.merchantId,
    });
    expectRefusal(await initiate(body, 'k1'), 403, 'App is not active');
  });

  for (const key of ['x', 'x'.repeat(255), "' OR true --", '{"a":1}', '%00', 'a b']) {
    it(`may be ${JSON.stringify(key).slice(0, 20)}`, async () => {
      const body = collectionBody();
      const first = await initiate(body, key);
      expectReplay(await initiate(body, key), first);
    });
  }

  for (const key of ['x'.repeat(256), 'é', 'a\tb', 'x'.repeat(8_000)]) {
    it(`may not be ${JSON.stringify(key).slice(0, 20)}`, async () => {
      expectRefusal(await initiate(collectionBody(), key), 400, 'Invalid Idempotency-Key');
      expect(await recorded()).to.equal(0);
    });
  }

  it('replays when the caller was gone before the answer', async () => {
    const body = collectionBody();
    const text = JSON.stringify(body);
    const { port } = new URL(service.origin);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.write(
      `POST /api/v1${INITIATE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.merchant.access}\r\n` +
        `Content-Type: application/json\r\nIdempotency-Key: k1\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    // Nothing of the answer is read: the connection is cut when the record is there.
    await eventually('the record is committed', async () => (await recorded()) === 1);
    socket.resetAndDestroy();
    const answer = await initiate(body, 'k1');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('idempotent-replayed')).to.equal('true');
    expect(await recorded()).to.equal(1);
  });

  const direct = (work: Parameters<typeof onceByKey>[2]) =>
    onceByKey(
      service.database,
      { merchant_id: service.merchantId, path: INITIATE, key: 'k1', fields: collectionBody() },
      work,
    );

  it('says that the first request is still running while it is, then is freed by its failure', async () => {
    let fail = (_error: Error) => {};
    let running: Promise<Error> | undefined;
    await new Promise<void>((started) => {
      running = rejection(
        direct(
          () =>
            new Promise((_, reject) => {
              fail = reject;
              started();
            }),
        ),
      );
    });
    expectRefusal(await initiate(collectionBody(), 'k1'), 409, RUNNING);
    fail(new Error('broken'));
    expect((await running)?.message).to.equal('broken');
    expect((await initiate(collectionBody(), 'k1')).status).to.equal(200);
  });

  it('is freed when the connection of the first request dies before the commit', async () => {
    const died = await rejection(
      direct(async (trx) => {
        await rows(trx, 'SELECT pg_terminate_backend(pg_backend_pid())');
        return { status: 200, body: {} };
      }),
    );
    expect(died).to.be.instanceOf(Error);
    expect(await kept()).to.equal(0);
    expect((await initiate(collectionBody(), 'k1')).status).to.equal(200);
  });
});
