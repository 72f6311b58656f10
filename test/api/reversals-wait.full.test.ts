import { expect } from 'chai';
import { MAX_WAITING_OF_MERCHANT } from '../../src/api/routes/payments.ts';
import { findReversal } from '../../src/domain/reversals/create-reversal.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import {
  ACKNOWLEDGED,
  type Answer,
  clientOf,
  DECLINED,
  eventually,
  expectRefusal,
  NOT_TAKEN,
  newCompletedCollection,
  PROCESS_TYPES,
  receiptOf,
  rejection,
  request,
  reversalBody,
  succeeded,
  UNKNOWN,
  useService,
  type workOn,
} from '../support/world.ts';

const PATH = '/reversals/initiate';
const UNREACHABLE =
  'Gateway unreachable, outcome unknown. Check GET /reversals/{ref_no} before any retry.';
const UNAVAILABLE = 'Service temporarily unavailable';
/** Longer than any test here takes to play the worker. */
const PATIENT = { REVERSAL_WAIT_MS: '20000', DRAIN_DELAY_MS: '0' };
const IMPATIENT = { REVERSAL_WAIT_MS: '300' };

interface Sending {
  key?: string;
  signal?: AbortSignal;
  to?: TestService;
}

describe('A reversal that waits for the gateway', () => {
  const patient = useService({ env: PATIENT });
  const impatient = useService({ env: IMPATIENT, beside: patient, merchant: 'none' });
  let body: Record<string, unknown>;

  after(async () => {
    await patient.expectSoundLedger();
  });

  beforeEach(async () => {
    body = await newBody();
  });

  const newBody = async () => reversalBody((await patient.newCompletedCollection()).ref_no);
  const send = (sent: unknown, { key, signal, to = patient }: Sending = {}) =>
    request('POST', `${to.baseUrl}${PATH}`, {
      access: patient.merchant.access,
      body: sent,
      headers: key ? { 'idempotency-key': key } : {},
      ...(signal ? { signal } : {}),
    });
  const detail = async () => (await patient.client.get(`/reversals/${body.ref_no}`)).body;
  const recorded = () =>
    patient.countOf('reversals WHERE merchant_id = :id', { id: patient.merchantId });
  const kept = (condition: string) =>
    patient.countOf(`idempotency_keys WHERE merchant_id = :id AND ${condition}`, {
      id: patient.merchantId,
    });

  /** The reversal that a request has recorded, and the worker for it. */
  async function work({ ref_no } = body) {
    const reversal = await eventually('the reversal', () =>
      findReversal(patient.database, {
        merchant_id: patient.merchantId,
        ref_no: String(ref_no),
      }),
    );
    return { reversal, ...patient.workOn(reversal) };
  }

  async function submitted(result: Parameters<ReturnType<typeof workOn>['answer']>[1]) {
    const { claim, answer } = await work();
    await answer(await claim(), result);
  }

  function expectReplay(answer: Answer, expected: unknown): void {
    expect([answer.status, answer.body]).to.deep.equal([200, expected]);
    expect(answer.headers.get('idempotent-replayed')).to.equal('true');
  }

  for (const [what, result, status, status_label] of [
    ['acknowledged', ACKNOWLEDGED, 1, 'processed'],
    ['declined', DECLINED, 2, 'failed'],
  ] as const) {
    it(`is answered with its state when it is ${what}`, async () => {
      const answering = send(body);
      await submitted(result);
      const answer = await answering;
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const original_trans_id = receiptOf({ id: (await work()).reversal.collection_id });
      expect(answer.body).to.include({ status, status_label, original_trans_id });
      expect(await detail()).to.deep.equal(answer.body);
    });
  }

  it('is answered with its end when that overtakes the acknowledgement', async () => {
    const answering = send(body);
    const { reversal, claim } = await work();
    await claim();
    await patient.learn(reversal, succeeded({ transId: 'BACK1' }));
    const { body: answered } = await answering;
    expect(answered).to.include({
      status: 3,
      status_label: 'reversed',
      trans_id: receiptOf(reversal, 'BACK1'),
    });
  });

  for (const [what, result] of [
    ['nobody sends it', null],
    ['nothing was taken', NOT_TAKEN],
    ['the gateway does not answer', UNKNOWN],
  ] as const) {
    it(`is unknown, and goes on, when ${what} in time`, async () => {
      const answering = send(body, { to: impatient });
      if (result) await submitted(result);
      expectRefusal(await answering, 502, UNREACHABLE, { code: 'gateway_unreachable' });
      const again = await send(body, { to: impatient });
      expectRefusal(again, 409, 'Reference number already exists', { code: 'duplicate_ref_no' });
      expect(await detail()).to.include({ status: 0, status_label: 'unprocessed' });
      const { reversal } = await work();
      await patient.learn(reversal, succeeded());
      expect(await detail()).to.include({ status: 3 });
    });
  }

  it('holds no connection of the database meanwhile', async () => {
    // Its pool has five connections.
    const narrow = await startTestService({ workers: [], env: PATIENT, beside: patient });
    try {
      const bodies = await Promise.all(Array.from({ length: 20 }, newBody));
      let ended = 0;
      const answering = bodies.map(async (each) => {
        const answer = await send(each, { to: narrow });
        ended += 1;
        return answer;
      });
      await eventually('all are recorded', async () => (await recorded()) === bodies.length);
      expect((await clientOf(narrow, patient.merchant).get('/reversals')).body.count).to.equal(20);
      expect(ended).to.equal(0);
      for (const each of bodies) {
        const { claim, answer } = await work(each);
        await answer(await claim(), ACKNOWLEDGED);
      }
      for (const { status } of await Promise.all(answering)) expect(status).to.equal(200);
    } finally {
      await narrow.close();
    }
  });

  it('takes no place if it is the second of its collection: of many at once one waits', async () => {
    const checkout = body.checkout_ref_no as string;
    const others = Array.from({ length: 2 * MAX_WAITING_OF_MERCHANT }, () =>
      reversalBody(checkout),
    );
    const answering = send(body);
    const { claim, answer } = await work();
    for (const refused of await Promise.all(others.map((each) => send(each)))) {
      expectRefusal(refused, 409, 'A reversal is already in progress');
    }
    await answer(await claim(), ACKNOWLEDGED);
    expect((await answering).status).to.equal(200);
    const paid = await newBody();
    const atOnce = others.map((each) => send({ ...each, checkout_ref_no: paid.checkout_ref_no }));
    const statuses = atOnce.map(async (each) => (await each).status);
    const first = await eventually('the accepted reversal', () =>
      patient.firstRow<{ ref_no: string }>(
        'SELECT ref_no FROM reversals WHERE merchant_id = :id AND checkout_ref_no = :ref_no',
        { id: patient.merchantId, ref_no: paid.checkout_ref_no },
      ),
    );
    const accepted = await work(first);
    await accepted.answer(await accepted.claim(), ACKNOWLEDGED);
    expect((await Promise.all(statuses)).toSorted()).to.deep.equal([
      200,
      ...Array.from({ length: others.length - 1 }, () => 409),
    ]);
  });

  it('finds no place when too many of its merchant wait, before anything is recorded, until their callers go', async () => {
    const known = await newBody();
    expectRefusal(await send(known, { key: 'known', to: impatient }), 502, UNREACHABLE);
    const bodies = await Promise.all(Array.from({ length: MAX_WAITING_OF_MERCHANT }, newBody));
    const callers = new AbortController();
    const gone = bodies.map((each) => rejection(send(each, { signal: callers.signal })));
    await eventually(
      'all are recorded',
      async () => (await recorded()) === 1 + MAX_WAITING_OF_MERCHANT,
    );
    expectRefusal(await send(body), 503, UNAVAILABLE);
    expectRefusal(await send(body, { key: 'k' }), 503, UNAVAILABLE);
    expect([await recorded(), await kept('true')]).to.deep.equal([1 + MAX_WAITING_OF_MERCHANT, 1]);
    // Another merchant finds a place. Its collection has no receipt yet, so it is answered at once.
    const other = await patient.newMerchant();
    const paid = await newCompletedCollection(patient.database, other, null);
    const { status } = await patient.clientOf(other).post(PATH, reversalBody(paid.ref_no));
    expect(status).to.equal(200);
    // What is known already needs no place.
    expect((await send(known, { key: 'known' })).body.status).to.equal(0);
    callers.abort();
    await Promise.all(gone);
    const unreceipted = await patient.newCompletedCollection(null);
    const isAccepted = async () => (await send(reversalBody(unreceipted.ref_no))).status === 200;
    // Sooner than their time would have been up.
    await eventually('a place is free', isAccepted, 5_000);
  });

  describe('under a key', () => {
    it('is repeated as it is now while the first request waits, and as it was answered after', async () => {
      const answering = send(body, { key: 'k' });
      const { reversal, claim, answer } = await work();
      const during = await send(body, { key: 'k' });
      expectReplay(during, await detail());
      expect(during.body.status).to.equal(0);
      await answer(await claim(), ACKNOWLEDGED);
      const first = await answering;
      expect([first.status, first.body.status]).to.deep.equal([200, 1]);
      expect(first.headers.get('idempotent-replayed')).to.equal(null);
      await patient.learn(reversal, succeeded());
      expectReplay(await send(body, { key: 'k' }), first.body);
      expect((await detail()).status).to.equal(3);
      expect([await recorded(), await kept('NOT provisional')]).to.deep.equal([1, 1]);
    });

    it('is repeated as it is now after an unknown outcome', async () => {
      expectRefusal(await send(body, { key: 'k', to: impatient }), 502, UNREACHABLE);
      for (const [next, status] of [
        [async () => {}, 0],
        [() => submitted(ACKNOWLEDGED), 1],
        [async () => patient.learn((await work()).reversal, succeeded()), 3],
      ] as const) {
        await next();
        const again = await send(body, { key: 'k' });
        expectReplay(again, await detail());
        expect(again.body.status).to.equal(status);
      }
      expect(await recorded()).to.equal(1);
    });

    it('is repeated as it is now when the first caller was gone before the answer', async () => {
      const caller = new AbortController();
      const gone = rejection(send(body, { key: 'k', signal: caller.signal }));
      await work();
      caller.abort();
      await gone;
      expectReplay(await send(body, { key: 'k' }), await detail());
      expect([await recorded(), await kept('provisional')]).to.deep.equal([1, 1]);
    });

    it('is kept as declined, as it was answered', async () => {
      const answering = send(body, { key: 'k' });
      await submitted(DECLINED);
      const first = await answering;
      expect(first.body.status).to.equal(2);
      expectReplay(await send(body, { key: 'k' }), first.body);
    });

    it('is refused with another body, and free after a refusal', async () => {
      expectRefusal(await send(body, { key: 'k', to: impatient }), 502, UNREACHABLE);
      const other = { ...body, reason: 'another' };
      const reused = 'Idempotency key was used with a different request';
      expectRefusal(await send(other, { key: 'k' }), 422, reused);
      const second = { ...body, ref_no: 'second' };
      expectRefusal(await send(second, { key: 'l' }), 409, 'A reversal is already in progress');
      expect(await kept('true')).to.equal(1);
    });

    it('is recorded once of 20 requests at once', async () => {
      const answering = Array.from({ length: 20 }, () => send(body, { key: 'k' }));
      await submitted(ACKNOWLEDGED);
      const answers = await Promise.all(answering);
      const running = 'A request with this idempotency key is still running';
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expectRefusal(answer, 409, running);
      }
      const first = answers.filter(
        ({ status, headers }) => status === 200 && headers.get('idempotent-replayed') === null,
      );
      expect(first).to.have.length(1);
      expectReplay(await send(body, { key: 'k' }), first[0]!.body);
      expect(await recorded()).to.equal(1);
    });
  });
});

describe('A reversal that is sent by the workers', () => {
  const service = useService({ workers: PROCESS_TYPES, merchant: 'none' });

  for (const [ending, behaviour, answered, end] of [
    ['678', 'takes it', [1, 3], 3],
    ['109', 'declines it', [2], 2],
    ['104', 'takes it, and its answer is lost', [1, 3], 3],
  ] as const) {
    it(`is answered when the gateway ${behaviour}, and ends`, async () => {
      const { get, post, initiate } = service.clientOf(await service.newMerchant());
      const { body: collection } = await initiate({ payfrom: `+254712345${ending}` });
      await eventually('the collection is paid', async () => {
        const { body } = await get(`/collections/checkouts/${collection.id}`);
        return body.status === 'completed';
      });
      const answer = await post(PATH, reversalBody(collection.ref_no));
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answered).to.include(answer.body.status);
      await eventually('the reversal ends', async () => {
        const { body } = await get(`/reversals/${answer.body.ref_no}`);
        return body.status === end;
      });
      const { body: balances } = await get('/wallets/balance');
      expect(balances.collection_wallet_balance).to.equal(end === 3 ? '0.00' : '98.50');
      await service.expectSoundLedger();
    });
  }
});
