import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { type CallbackTarget, callbackUrl } from '../../src/gateways/callback-address.ts';
import { processStoredCallback } from '../../src/workers/steps.ts';
import { type StoredCallback, successBody } from '../support/callbacks.ts';
import {
  AMOUNT_CENTS,
  eventually,
  expectRefusal,
  NET_CENTS,
  PAYER,
  request,
  useService,
} from '../support/world.ts';

const ACCEPTED = { status: 'received' };

describe('A gateway’s callback', () => {
  const service = useService();
  let collection: Collection;

  beforeEach(async () => {
    collection = await service.newCollection();
  });

  afterEach(() => service.expectRightBooks());

  const targetOf = ({
    merchant_id,
    id,
    kind,
  }: Pick<Collection, 'merchant_id' | 'id'> & { kind: CallbackTarget['kind'] }) => ({
    kind,
    merchant_id,
    id,
  });

  const addressOf = (target: CallbackTarget, keys = service.config.secretsKeys) =>
    callbackUrl(service.origin, keys, 'simulator', target);

  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    request('POST', url, { body, headers });

  /** Runs the jobs of everything stored for a payment; gives what became of the callbacks. */
  async function processAll(
    payment: Collection | { id: string },
  ): Promise<[string, string | null][]> {
    for (const { id } of await service.callbacksOf(payment)) {
      await processStoredCallback(service, service.merchantId, id, {});
    }
    return (await service.callbacksOf(payment)).map(({ status, problem }) => [status, problem]);
  }

  const wallet = () => service.walletBalance('collection');

  async function expectUntouched(payment: Collection): Promise<void> {
    expect((await service.reread(payment)).status).to.equal('pending');
    expect(await wallet()).to.equal(0);
    const events = await service.countOf('events WHERE payment_id = :id', {
      id: payment.id,
    });
    expect(events).to.equal(0);
  }

  it('is stored as it came, with a job, and moves nothing before that job runs', async () => {
    const body = `  ${JSON.stringify(successBody(collection, { note: 'Wanjikũ 🎉' }))}\n`;
    const answer = await post(addressOf(refOf(collection)), body);
    expect([answer.status, answer.body]).to.deep.equal([200, ACCEPTED]);
    const [stored] = await service.callbacksOf(collection);
    expect(stored).to.include({ body, status: 'stored', problem: null });
    expect(await service.outboxOf(stored!.id)).to.deep.equal([
      { queue: 'callbacks', kind: 'callback', step: 'process', row_id: stored!.id, step_no: 1 },
    ]);
    await expectUntouched(collection);
    expect(await processAll(collection)).to.deep.equal([['processed', null]]);
    expect(await service.reread(collection)).to.include({
      status: 'completed',
      external_ref: 'GW-1',
    });
    expect(await wallet()).to.equal(NET_CENTS);
  });

  it('is answered only after it is stored', async () => {
    const order: string[] = [];
    const locking = await service.database.transaction();
    await locking.raw('LOCK TABLE callbacks IN ACCESS EXCLUSIVE MODE');
    const answering = post(addressOf(refOf(collection)), successBody(collection)).then((answer) => {
      order.push('answered');
      return answer;
    });
    await eventually('the callback to wait for the lock', () =>
      service.firstRow(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'callbacks'::regclass`,
      ),
    );
    await nextTick();
    order.push('released');
    await locking.commit();
    expect((await answering).status).to.equal(200);
    expect(order).to.deep.equal(['released', 'answered']);
    expect(await service.callbacksOf(collection)).to.have.length(1);
  });

  it('that comes again, or is processed twice at once, counts once', async () => {
    for (let count = 0; count < 3; count += 1) {
      expect((await post(addressOf(refOf(collection)), successBody(collection))).status).to.equal(
        200,
      );
    }
    await Promise.all([processAll(collection), processAll(collection), processAll(collection)]);
    const stored = await service.callbacksOf(collection);
    expect(stored.map(({ status }) => status)).to.deep.equal(Array(3).fill('processed'));
    expect(await wallet()).to.equal(NET_CENTS);
    expect(await service.discrepanciesOf(collection.id)).to.deep.equal([]);
    const events = await service.countOf('events WHERE payment_id = :id', {
      id: collection.id,
    });
    expect(events).to.equal(1);
  });

  it('of a return ends the return', async () => {
    const payment = await service.newReturn();
    const url = addressOf(targetOf(payment));
    expect((await post(url, successBody(payment, { kind: 'return' }))).status).to.equal(200);
    expect(await processAll(payment)).to.deep.equal([['processed', null]]);
    expect((await service.reread(payment)).status).to.equal('completed');
    expect(await service.accountBalance('suspense')).to.equal(0);
  });

  it('that names another payment than its address moves neither, and is a discrepancy', async () => {
    const other = await service.newCollection();
    expect((await post(addressOf(refOf(collection)), successBody(other))).status).to.equal(200);
    expect(await processAll(collection)).to.deep.equal([
      ['rejected', 'it names another payment than its address'],
    ]);
    expect(await service.discrepanciesOf(collection.id)).to.deep.equal(['other_payment']);
    await expectUntouched(collection);
    await expectUntouched(other);
  });

  it('of another amount moves neither state nor wallet, and is a discrepancy', async () => {
    await post(addressOf(refOf(collection)), successBody(collection, { amount: '1.00' }));
    expect(await processAll(collection)).to.deep.equal([
      ['processed', 'it contradicts the payment'],
    ]);
    expect(await service.discrepanciesOf(collection.id)).to.deep.equal(['other_amount']);
    await expectUntouched(collection);
    expect(await service.accountBalance('suspense')).to.equal(100);
  });

  it('that something is pending moves nothing', async () => {
    await post(addressOf(refOf(collection)), successBody(collection, { status: 'pending' }));
    expect(await processAll(collection)).to.deep.equal([['processed', null]]);
    await expectUntouched(collection);
  });

  it('comes to an end whatever letters are in its words', async () => {
    const words = '\ud800 \udfff \uffff \u202e %s $1 \\u0000';
    await post(addressOf(refOf(collection)), successBody(collection));
    const failure = { status: 'failed', result_code: 7, result_description: words };
    await post(addressOf(refOf(collection)), successBody(collection, failure));
    const strange = { trans_id: `R ${words}`, account: words };
    await post(addressOf(refOf(collection)), successBody(collection, strange));
    await post(addressOf(refOf(collection)), successBody(collection, strange));
    for (const [status] of await processAll(collection)) expect(status).to.not.equal('stored');
    expect(await wallet()).to.equal(NET_CENTS);
  });

  it('about a payment that is not here is a discrepancy', async () => {
    const [id, reference] = [crypto.randomUUID(), crypto.randomUUID()];
    const target = { kind: 'collection', merchant_id: service.merchantId, id } as const;
    expect((await post(addressOf(target), successBody({ reference }))).status).to.equal(200);
    expect(await processAll({ id })).to.deep.equal([['rejected', 'the payment is not known here']]);
    expect(await service.discrepanciesOf(id)).to.deep.equal(['unknown_payment']);
    // All that is needed to find the customer and the merchant of a payment that was lost.
    const found = await service.firstRow<Record<string, unknown>>(
      `SELECT merchant_id, trans_id, amount_cents, details FROM discrepancies
       WHERE payment_id = :id`,
      { id },
    );
    const { details, ...columns } = found!;
    expect(columns).to.deep.equal({
      merchant_id: service.merchantId,
      trans_id: String(successBody({ reference }).trans_id).toUpperCase(),
      amount_cents: AMOUNT_CENTS,
    });
    expect(details).to.include({ reference, outcome: 'succeeded', account: PAYER });
  });

  const GARBAGE: Readonly<Record<string, [body: string, type: string]>> = {
    nothing: ['', 'application/json'],
    'half of JSON': ['{"reference":', 'application/json'],
    'another object': ['{"Body":{"stkCallback":{}}}', 'application/json'],
    'a list': ['[]', 'application/json'],
    'a text': ['hello', 'text/plain'],
    'a form': ['reference=1&status=succeeded', 'application/x-www-form-urlencoded'],
    XML: ['<result>0</result>', 'application/xml'],
    'NUL characters': ['{"a":"\u0000"}\u0000', 'application/octet-stream'],
    'in an unknown encoding': ['{}', 'application/json; charset=klingon'],
    SQL: ["'; DROP TABLE callbacks; --", 'text/plain'],
  };
  for (const [what, [body, type]] of Object.entries(GARBAGE)) {
    it(`that is ${what} is kept, and rejected when it is processed`, async () => {
      const answer = await post(addressOf(refOf(collection)), body, { 'content-type': type });
      expect([answer.status, answer.body]).to.deep.equal([200, ACCEPTED]);
      expect(await processAll(collection)).to.deep.equal([
        ['rejected', 'the body is not one of this gateway'],
      ]);
      const [{ body: kept }] = (await service.callbacksOf(collection)) as [StoredCallback];
      expect(kept).to.equal(body.replaceAll('\u0000', '\uFFFD'));
      await expectUntouched(collection);
    });
  }

  it('that is larger than any is refused', async () => {
    const body = JSON.stringify(successBody(collection, { filler: 'x'.repeat(64 * 1_024) }));
    const answer = await post(addressOf(refOf(collection)), body);
    expectRefusal(answer, 413, 'Request body is too large');
  });
});
