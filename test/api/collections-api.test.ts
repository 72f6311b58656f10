import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { findPayment } from '../../src/domain/payments/payment-store.ts';
import { COLLECTION_FIELDS } from '../support/collection-fields.ts';
import { expectBothForms } from '../support/created-at.ts';
import { itChecksFields } from '../support/field-tests.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService } from '../support/test-service.ts';
import {
  collectionBody,
  expectRefusal,
  failed,
  receiptOf,
  request,
  succeeded,
  useService,
} from '../support/world.ts';

describe('Initiating a collection', () => {
  const service = useService({ merchant: 'all' });

  const initiate = (body: unknown, { access } = service.merchant) =>
    request('POST', `${service.baseUrl}/collections/checkouts/initiate`, { access, body });
  const detail = (id: string, { access } = service.merchant) =>
    request('GET', `${service.baseUrl}/collections/checkouts/${id}`, { access });
  const recorded = () => service.countOf('collections');

  it('answers with the record, which is then stored with its first job', async () => {
    const body = collectionBody({ account_number: 'INV-7', callback_url: 'https://x.example/h' });
    const answer = await initiate(body);
    expect(answer.status).to.equal(200);
    const { id, created_at, created_at_iso, ...rest } = answer.body;
    expect(rest).to.deep.equal({ ...body, status: 'pending', category: 'other' });
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expectBothForms({ created_at, created_at_iso });
    expect(await service.outboxOf(id)).to.deep.equal([
      {
        queue: 'submission-simulator',
        kind: 'collection',
        step: 'submit',
        row_id: id,
        step_no: 1,
      },
    ]);
  });

  itChecksFields(COLLECTION_FIELDS, {
    bodyOf: collectionBody,
    initiate,
    recorded,
    newOwner: () => service.newMerchant(),
    read: async (answer, owner) => (await detail(answer.body.id, owner)).body,
  });

  it('refuses a phone whose carrier has no channel', async () => {
    const before = await recorded();
    const answer = await initiate(collectionBody({ payfrom: '+254744123456' }));
    expectRefusal(answer, 400, 'Invalid phone number');
    expect(await recorded()).to.equal(before);
  });

  it('ignores fields that are not for the caller to set', async () => {
    const extra = {
      status: 'completed',
      id: 'x',
      category: 'gaming',
      commission: '0.00',
      amount_cents: 1,
    };
    const text = JSON.stringify(collectionBody(extra)).replace(
      '{',
      '{"__proto__":{"x":1},"constructor":{},',
    );
    const answer = await initiate(text);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ status: 'pending', category: 'other', amount: '100.00' });
    expect(answer.body.id).to.not.equal('x');
    expect((await detail(answer.body.id)).body.commission).to.equal('1.50');
  });

  it('does not take fields from a prototype', async () => {
    const fields = JSON.stringify(collectionBody());
    const answer = await initiate(`{"__proto__":${fields}}`);
    expectRefusal(answer, 400, 'payfrom field is required');
  });

  it('refuses a reference that the merchant has used, and no other merchant’s', async () => {
    const body = collectionBody();
    const { status, body: first } = await initiate(body);
    expect(status).to.equal(200);
    expectRefusal(await initiate(body), 409, 'Reference number already exists');
    const other = await service.newMerchant();
    const theirs = await initiate(body, other);
    expect(theirs.status).to.equal(200);
    expect(theirs.body.id).to.not.equal(first.id);
  });

  it('records one of 20 identical requests that come at once', async () => {
    const body = collectionBody();
    const answers = await Promise.all(Array.from({ length: 20 }, () => initiate(body)));
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).to.have.length(1);
    for (const answer of answers.filter((each) => each !== accepted[0])) {
      expectRefusal(answer, 409, 'Reference number already exists');
    }
    const bindings = { ref_no: body.ref_no };
    expect(await service.countOf('collections WHERE ref_no = :ref_no', bindings)).to.equal(1);
    expect(await service.outboxOf(accepted[0]!.body.id)).to.have.length(1);
  });

  it('refuses, and records nothing, without a wallet for the money', async () => {
    const owner = await service.newMerchant();
    const bindings = { id: owner.merchant_id };
    await rows(service.owner, `DELETE FROM wallets WHERE merchant_id = :id`, bindings);
    const answer = await initiate(collectionBody(), owner);
    expectRefusal(answer, 403, 'Wallet not found or not initialized');
    const from = 'collections WHERE merchant_id = :id';
    expect(await service.countOf(from, bindings)).to.equal(0);
    expect(await service.countOf('outbox WHERE merchant_id = :id', bindings)).to.equal(0);
  });

  it('computes the commission by the default or by the merchant’s own rate', async () => {
    const RATES: [assignments: string, commission: string, net: string][] = [
      ['commission_bps = NULL', '1.50', '98.50'],
      ['commission_bps = 200', '2.00', '98.00'],
      ['commission_bps = 0, commission_fixed_cents = 500', '5.00', '95.00'],
      ['commission_bps = 10000', '100.00', '0.00'],
    ];
    const owner = await service.newMerchant();
    for (const [assignments, commission, net_amount] of RATES) {
      await service.rows(`UPDATE merchants SET ${assignments} WHERE id = :id`, {
        id: owner.merchant_id,
      });
      const { body } = await initiate(collectionBody(), owner);
      expect((await detail(body.id, owner)).body).to.include({ commission, net_amount });
    }
  });

  describe('and reading it', () => {
    it('shows what is not known yet as null, and the outcome when there is one', async () => {
      const { body: record } = await initiate(collectionBody());
      const open = {
        ...record,
        result_code: null,
        result_description: null,
        trans_id: null,
        external_ref: null,
        payment_completed_at: null,
        commission: '1.50',
        net_amount: '98.50',
      };
      const answer = await detail(record.id);
      expect([answer.status, answer.body]).to.deep.equal([200, open]);
      const collection = await findPayment(service.database, {
        kind: 'collection',
        merchant_id: service.merchantId,
        id: record.id,
      });
      await service.learn(collection!, succeeded());
      expect((await detail(record.id)).body).to.deep.equal({
        ...open,
        status: 'completed',
        result_code: 0,
        result_description: 'Done',
        trans_id: receiptOf(record),
        external_ref: 'GW-1',
        payment_completed_at: '2026-11-20T10:00:00.000Z',
      });
    });

    it('shows no commission and no net amount of one that failed', async () => {
      const { body: record } = await initiate(collectionBody());
      const ref = { kind: 'collection', merchant_id: service.merchantId, id: record.id } as const;
      await service.learn((await findPayment(service.database, ref))!, failed());
      const nothing = { status: 'failed', commission: '0.00', net_amount: '0.00' };
      expect((await detail(record.id)).body).to.include(nothing);
    });

    it('finds nothing that is not the merchant’s own, by the same answer as for nothing at all', async () => {
      const other = await service.newMerchant();
      const theirs = await initiate(collectionBody(), other);
      expect((await detail(theirs.body.id.toUpperCase(), other)).status).to.equal(200);
      for (const id of [
        theirs.body.id,
        crypto.randomUUID(),
        'x',
        '1',
        'null',
        `${theirs.body.id}x`,
        '%00',
        "' OR true --",
        '..%2f',
        'x'.repeat(2_000),
      ]) {
        expectRefusal(await detail(id), 404, 'Transaction not found');
      }
    });
  });
});

describe('Initiating a collection on a channel without driver', () => {
  it('is refused with the channel’s code', async () => {
    const service = await startTestService({ workers: [], env: { CHANNELS: '63902=simulator' } });
    try {
      const { access } = await createTestMerchant(service);
      const url = `${service.baseUrl}/collections/checkouts/initiate`;
      const initiate = (payfrom: string) =>
        request('POST', url, { access, body: collectionBody({ payfrom }) });
      expectRefusal(await initiate('+254733123456'), 400, 'Channel is not available: 63903');
      expectRefusal(await initiate('+254770123456'), 400, 'Channel is not available: 63907');
      expect((await initiate('+254712345678')).status).to.equal(200);
    } finally {
      await service.close();
    }
  });
});
