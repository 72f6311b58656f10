import { expect } from 'chai';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { MINUTE_MS } from '../../src/time.ts';
import { assign } from '../support/assignments.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { addAttempts, setState } from '../support/webhook-state.ts';
import { expectRefusal, useService } from '../support/world.ts';

const SHOP = 'http://shop.example';
const NOT_FOUND = 'Webhook not found';

describe('One webhook', () => {
  const service = useService();

  const add = (state: Parameters<typeof setState>[2] = {}) => service.newWebhook(state);
  const show = async (id: string) => {
    const { status, body } = await service.client.get(`/webhooks/deliveries/${id}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const resend = (id: string, headers: Record<string, string> = {}) =>
    service.client.post(`/webhooks/deliveries/${id}/resend`, {}, headers);
  const stepOf = async (id: string) => (await service.deliveryOf(id)).step_no;

  it('is shown as in the list, with its body, every attempt and what the receiver answered', async () => {
    const id = await add({ attempts: 2, dueInMs: MINUTE_MS });
    await addAttempts(service.database, service.merchantId, id, [
      { attempt_no: 1, response_status: null, error: 'timeout' },
      { attempt_no: 2, response_status: 503, answer: 'busy' },
    ]);
    const shown = await show(id);
    const { body: list } = await service.client.get('/webhooks/deliveries');
    expect(shown).to.include(list.results[0]);
    const [event] = await service.rows<{ body: string }>('SELECT body FROM events WHERE id = :id', {
      id,
    });
    expect(shown.payload).to.deep.equal(JSON.parse(event!.body));
    expect(shown).to.include({ endpoint: SHOP, waits_for: 'retry' });
    expect(shown.waits_for_description).to.match(/comes after a pause/);
    const attempts = shown.attempts_made.map(
      ({ attempted_at, ...attempt }: { attempted_at: string }) => attempt,
    );
    expect(attempts).to.deep.equal([
      { attempt: 1, duration_ms: 143, status: null, error: 'timeout', answer: null },
      { attempt: 2, duration_ms: 143, status: 503, error: null, answer: 'busy' },
    ]);
  });

  it('shows the newest hundred attempts of one that was sent again without end', async () => {
    const id = await add({ attempts: 103 });
    const attempts = Array.from({ length: 103 }, (_, n) => ({
      attempt_no: n + 1,
      response_status: 500,
    }));
    await addAttempts(service.database, service.merchantId, id, attempts);
    const numbers = (await show(id)).attempts_made.map(
      ({ attempt }: { attempt: number }) => attempt,
    );
    expect(numbers).to.have.length(100);
    expect([numbers[0], numbers[99]]).to.deep.equal([4, 103]);
  });

  it('says what the next attempt waits for', async () => {
    const cases: [string | null, Parameters<typeof setState>[2]][] = [
      ['retry', { attempts: 1, dueInMs: MINUTE_MS }],
      ['place', {}],
      ['under_way', { admitted: true }],
      ['support', { parked_reason: 'job failed: bug' }],
      [null, { status: 'delivered' }],
      [null, { status: 'exhausted' }],
      [null, { status: 'stopped' }],
    ];
    const id = await add();
    for (const [waitsFor, state] of cases) {
      await setState(service.database, id, state);
      const { waits_for, waits_for_description, next_attempt_at } = await show(id);
      expect(waits_for).to.equal(waitsFor);
      expect(waits_for_description === null).to.equal(waitsFor === null);
      const isPlanned = waitsFor !== null && waitsFor !== 'support';
      expect(next_attempt_at !== null, `next of ${waitsFor}`).to.equal(isPlanned);
    }
  });

  it('waits for its endpoint when that does not work, and for a secret when its app has none', async () => {
    const id = await add();
    const { merchant_id } = service.merchant;
    await makeEndpoint(service.database, merchant_id, SHOP, { ...OPEN });
    expect((await show(id)).waits_for).to.equal('endpoint');
    await setState(service.database, id, { attempts: 1, dueInMs: MINUTE_MS });
    expect((await show(id)).waits_for, 'the pause comes first').to.equal('retry');
    await assign(service.database, merchant_id, 'apps', `signs_webhooks_with = 'own'`);
    expect((await show(id)).waits_for).to.equal('secret');
  });

  it('is not found when there is none, no number yet, or the id has no form', async () => {
    const unnumbered = await service.newEvent();
    for (const id of [crypto.randomUUID(), unnumbered, 'x', '1', '%00', `${unnumbered}0`]) {
      expectRefusal(await service.client.get(`/webhooks/deliveries/${id}`), 404, NOT_FOUND);
      expectRefusal(await resend(id), 404, NOT_FOUND);
    }
  });

  it('goes out again now, whatever became of it, and its ladder begins anew', async () => {
    for (const status of ['exhausted', 'stopped', 'delivered'] as const) {
      const id = await add({ status, attempts: 12 });
      const before = await show(id);
      const { status: answered, body } = await resend(id);
      expect(answered).to.equal(200);
      expect(body).to.include({
        id,
        resent: true,
        status: 'pending',
        attempts: 12,
        waits_for: 'place',
      });
      expect(body.delivered_at).to.equal(before.delivered_at);
      const { resent, ...detail } = body;
      expect(detail).to.deep.equal(await show(id));
      const row = await service.deliveryOf(id);
      expect(row).to.include({ attempts_before_resend: 12, next_step: 'deliver' });
    }
  });

  it('stays as it is when it is due or under way', async () => {
    const id = await add({ status: 'exhausted' });
    expect((await resend(id)).body.resent).to.equal(true);
    const step = await stepOf(id);
    expect((await resend(id)).body).to.include({ resent: false, waits_for: 'place' });
    await prepareDeliveries(service.database, 1_000);
    expect((await resend(id)).body).to.include({ resent: false, waits_for: 'under_way' });
    expect(await stepOf(id), 'only its admission').to.equal(step + 1);
  });

  it('goes once for one key, and the answer is repeated', async () => {
    const id = await add({ status: 'exhausted' });
    const first = await resend(id, { 'idempotency-key': 'again' });
    const step = await stepOf(id);
    await setState(service.database, id, { status: 'exhausted' });
    const second = await resend(id, { 'idempotency-key': 'again' });
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    expect(second.body).to.deep.equal(first.body);
    expect(await stepOf(id)).to.equal(step);
  });

  it('goes once when it is asked for many times at once, and its endpoint is probed', async () => {
    const id = await add({ status: 'exhausted' });
    const probe_at = new Date(Date.now() + MINUTE_MS);
    await service.makeEndpoint(SHOP, { ...OPEN, probe_at });
    const step = await stepOf(id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => resend(id)));
    expect(answers.filter(({ body }) => body.resent)).to.have.length(1);
    expect(await stepOf(id)).to.equal(step + 1);
    const endpoint = await service.endpointOf(SHOP);
    expect(endpoint!.probe_at!.getTime()).to.be.below(probe_at.getTime());
  });
});
