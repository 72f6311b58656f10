import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import {
  findDelivery,
  RETRY_DELAYS_MS,
  recordAttempt,
} from '../../src/domain/webhooks/delivery.ts';
import { countExhausted } from '../../src/domain/webhooks/list-deliveries.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { deliveryOf, makeDue, newEvent, outcomeOf } from '../support/events.ts';
import { outboxOf } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';
const CAP = 100;
const SHOP = 'https://shop.example:8443/hook?key=hush';
const LADDER = RETRY_DELAYS_MS.length + 1;

interface Answer {
  status: number | null;
  error?: string | null;
  answer?: string;
  reason?: string;
}

describe('admin webhooks', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  beforeEach(async () => {
    merchant = await createTestMerchant({ database: admin.database, config });
  });

  async function newWebhook(): Promise<string> {
    const id = await newEvent(admin.database, merchant, SHOP);
    await prepareDeliveries(admin.database, 0);
    return id;
  }

  /** Admits a delivery whose time has come, as the dispatcher does. */
  async function admit(id: string) {
    await makeDue(admin.database, id);
    await prepareDeliveries(admin.database, CAP);
    const { step_no } = await deliveryOf(admin.database, id);
    const ref = { merchant_id: merchant.merchant_id, event_id: id, step_no };
    return (await findDelivery(admin.database, ref))!;
  }

  async function attempt(id: string, answer: Answer, times = 1) {
    for (let made = 0; made < times; made += 1) {
      const delivery = await admit(id);
      await recordAttempt(
        admin.database,
        delivery,
        outcomeOf({ ...answer, durationMs: 12 }),
        () => 0,
      );
    }
  }

  const show = (id: string) => admin.json(`webhooks show ${id}`);
  const resend = (id: string) => admin.changeJson(`webhooks resend ${id}`);

  describe('show', () => {
    it('has all that is known of a webhook, and every attempt', async () => {
      const id = await newWebhook();
      const answer = `${'<p>busy</p>\n'.repeat(80)}\u009b2J end`;
      await attempt(id, { status: 503, answer });
      const error = 'The host leads to no public address';
      await attempt(id, { status: null, error, reason: '10.1.2.3 is not a public address' });
      const [event] = await rows<{ body: string; payment_id: string; ref_no: string }>(
        admin.database,
        `SELECT e.body, e.payment_id, c.ref_no FROM events e JOIN collections c ON c.id = e.payment_id
         WHERE e.id = :id`,
        { id },
      );
      const shown = await show(id);
      expect(shown).to.include({
        id,
        merchant_id: merchant.merchant_id,
        app_code: merchant.app_code,
        app_name: 'Till',
        payment_kind: 'collection',
        payment_id: event!.payment_id,
        ref_no: event!.ref_no,
        type: 'transaction.completed',
        sequence: 1,
        endpoint: 'https://shop.example:8443',
        callback_url: 'https://shop.example:8443/hook?…',
        body: event!.body,
        status: 'pending',
        attempts: 2,
        parked_reason: null,
      });
      const made = (shown.attempts_made as Document[]).map(({ attempted_at, ...rest }) => {
        expect(attempted_at).to.match(/^\d{4}-.*Z$/);
        return rest;
      });
      const slow = { duration_ms: 12 };
      expect(made).to.deep.equal([
        { attempt_no: 1, ...slow, response_status: 503, error: null, reason: null, answer },
        {
          attempt_no: 2,
          ...slow,
          response_status: null,
          error,
          reason: '10.1.2.3 is not a public address',
          answer: null,
        },
      ]);
      expect(shown.next).to.match(/^attempt 3, later, because the one before has failed, at \d/);
      // A terminal must not obey what a receiver has written.
      expect(await admin.text(`webhooks show ${id} --json`)).to.include('\\u009b2J end');
      const text = await admin.text(`webhooks show ${id}`);
      expect(text)
        .to.match(new RegExp(`^Webhook ${id}\n`))
        .and.match(
          /^Attempts made:\n +ATTEMPT NO +ATTEMPTED AT +DURATION MS +RESPONSE STATUS +ERROR +REASON +ANSWER$/m,
        )
        .and.match(/^ +1 .* 503 +- +- +<p>busy<\/p> <p>busy<\/p> .*…$/m)
        .and.match(
          /^ +2 .* The host leads to no public address +10\.1\.2\.3 is not a public address +-$/m,
        )
        .and.include(`\nBody:\n  ${event!.body}\n`)
        .and.not.include('hush');
    });

    it('says of every state when the next attempt comes, and why', async () => {
      const id = await newEvent(admin.database, merchant, SHOP);
      const next = async () => (await show(id)).next;
      expect(await next()).to.equal('the first, when the dispatcher has numbered it');
      await prepareDeliveries(admin.database, 0);
      expect(await next()).to.match(
        /^attempt 1, due: the dispatcher lets it go when its endpoint has a place, the first, at \d/,
      );
      const delivery = await admit(id);
      expect(await next()).to.match(/^attempt 1, under way, the first, at \d/);
      await recordAttempt(admin.database, delivery, outcomeOf({ status: 410 }));
      expect(await next()).to.match(/^none: the receiver answered 410/);
      await resend(id);
      expect(await next()).to.match(/^attempt 2, due: .*, because it was resent, at \d/);
      await attempt(id, { status: 500 }, LADDER);
      expect(await next()).to.equal(
        `none planned: attempt ${LADDER + 1} was the last one of the ladder`,
      );
      await resend(id);
      await attempt(id, { status: 200 });
      expect(await next()).to.equal('none: the receiver has taken it');
      await rows(
        admin.database,
        `UPDATE webhook_deliveries SET status = 'pending', parked_reason = 'job failed: bug'
         WHERE event_id = :id`,
        { id },
      );
      expect(await next()).to.match(
        /^none until somebody replays its job or resends it: job failed: bug/,
      );
    });

    it('says in one line that there is none', async () => {
      await admin.refused([
        [`webhooks show ${NOBODY}`, `There is no webhook ${NOBODY}`],
        [`webhooks resend ${NOBODY}`, `There is no webhook ${NOBODY}`],
      ]);
    });
  });

  describe('resend', () => {
    for (const [status, ending] of [
      ['delivered', { status: 200 }],
      ['stopped', { status: 410 }],
      ['exhausted', { status: 500 }],
    ] as const) {
      it(`lets a webhook that was ${status} go again, with the same id and body, and says who did it`, async () => {
        const id = await newWebhook();
        await attempt(id, ending, status === 'exhausted' ? LADDER : 1);
        const before = await show(id);
        expect(before.status).to.equal(status);
        const after = await resend(id);
        expect(after).to.include({
          id,
          resent: true,
          status: 'pending',
          attempts: before.attempts,
        });
        expect(await admin.lastAudit()).to.deep.equal({
          action: 'webhooks.resend',
          merchant_id: merchant.merchant_id,
          subject: `webhook ${id}`,
          details: {
            payment: `collection ${before.payment_id}`,
            status,
            attempts: before.attempts,
            // Attempts that failed up to the end of the ladder have opened the breaker.
            ...{ resent: true, probed: status === 'exhausted' },
          },
        });
        await prepareDeliveries(admin.database, CAP);
        const { step_no } = await deliveryOf(admin.database, id);
        expect((await outboxOf(admin.database, id)).at(-1)).to.include({
          kind: 'webhook',
          step_no,
        });
        const ref = { merchant_id: merchant.merchant_id, event_id: id, step_no };
        const delivery = await findDelivery(admin.database, ref);
        expect(delivery).to.include({ event_id: id, body: before.body, sequence: before.sequence });
        await recordAttempt(admin.database, delivery!, outcomeOf({ status: 200 }));
        expect(await show(id)).to.include({
          status: 'delivered',
          attempts: Number(before.attempts) + 1,
        });
      });
    }

    it('begins the ladder anew, and counts the attempts on', async () => {
      const id = await newWebhook();
      await attempt(id, { status: 500 }, LADDER);
      await resend(id);
      for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
        await attempt(id, { status: 500 });
        const { next_step_at, attempts } = await deliveryOf(admin.database, id);
        expect(attempts).to.equal(LADDER + index + 1);
        const [last] = await rows<{ at: Date; no: number }>(
          admin.database,
          `SELECT attempted_at AS at, attempt_no AS no FROM webhook_attempts WHERE event_id = :id
           ORDER BY attempted_at DESC LIMIT 1`,
          { id },
        );
        expect(last!.no).to.equal(attempts);
        // The two times are of one statement.
        expect(next_step_at!.getTime() - last!.at.getTime()).to.be.closeTo(delayMs, 1_000);
      }
      await attempt(id, { status: 500 });
      expect(await deliveryOf(admin.database, id)).to.include({
        status: 'exhausted',
        attempts: 2 * LADDER,
        next_step: null,
      });
    });

    it('keeps when the receiver took it first, whatever becomes of the copy', async () => {
      const id = await newWebhook();
      expect(await show(id)).to.include({ delivered_at: null });
      await attempt(id, { status: 200 });
      const { delivered_at } = await show(id);
      expect(delivered_at).to.match(/^\d{4}-.*Z$/);
      const before = await countExhausted(admin.database, CAP);
      await resend(id);
      await attempt(id, { status: 500 }, LADDER);
      expect(await show(id)).to.include({ status: 'exhausted', delivered_at });
      // Nobody has to tell the merchant.
      expect(await countExhausted(admin.database, CAP)).to.equal(before);
    });

    it('brings an attempt that waits on the ladder forward', async () => {
      const id = await newWebhook();
      await attempt(id, { status: 500 }, 9);
      const { step_no } = await deliveryOf(admin.database, id);
      expect(await resend(id)).to.include({ resent: true, attempts: 9 });
      expect((await deliveryOf(admin.database, id)).step_no).to.equal(step_no + 1);
      expect(await prepareDeliveries(admin.database, CAP)).to.equal(1);
    });

    it('says that it waits for its endpoint, since when, and when that is tried next', async () => {
      const id = await newWebhook();
      await attempt(id, { status: 500 });
      expect(await show(id)).to.include({ endpoint_failing_since: null, endpoint_probe_at: null });
      const endpoint = new URL(SHOP).origin;
      const failing_since = new Date('2026-03-01T09:00:00Z');
      const probe_at = new Date('2126-03-01T09:00:00Z');
      const state = { ...OPEN, failing_since, probe_at };
      await makeEndpoint(admin.database, merchant.merchant_id, endpoint, state);
      const waits = 'waits: the endpoint has failed since 2026-03-01 12:00:00 EAT, next probe';
      const shown = await show(id);
      expect(shown).to.include({
        endpoint_failing_since: failing_since.toISOString(),
        endpoint_probe_at: probe_at.toISOString(),
      });
      expect(shown.next).to.match(
        new RegExp(`^attempt 2, not before \\d.* EAT, ${waits} 2126-03-01 12:00:00 EAT$`),
      );
      expect(await admin.change(`webhooks resend ${id}`))
        .to.include('goes out again, as attempt 2')
        .and.include(`  next  attempt 2, ${waits} `)
        // It is worth a try now.
        .and.not.include('2126');
      const { next } = await show(id);
      expect(next).to.match(new RegExp(`^attempt 2, ${waits} `));
      await admit(id);
      expect((await show(id)).next).to.match(/^attempt 2, under way/);
    });

    it('does not double one that is due or under way, nor when it is asked twice at once', async () => {
      const id = await newWebhook();
      const expectLeft = async () => {
        const before = await deliveryOf(admin.database, id);
        const audits = (await admin.audits()).length;
        expect(await resend(id)).to.include({ resent: false });
        expect(await admin.change(`webhooks resend ${id}`)).to.match(
          / is (due|under way): nothing was changed\n +next +attempt 1, \1/,
        );
        expect(await deliveryOf(admin.database, id)).to.deep.equal(before);
        expect(await admin.audits()).to.have.length(audits);
      };
      await expectLeft();
      await admit(id);
      await expectLeft();
      const delivery = await findDelivery(admin.database, {
        ...{ merchant_id: merchant.merchant_id, event_id: id },
        step_no: (await deliveryOf(admin.database, id)).step_no,
      });
      await recordAttempt(admin.database, delivery!, outcomeOf({ status: 200 }));
      const resent = await Promise.all([resend(id), resend(id), resend(id)]);
      expect(resent.filter((each) => each.resent)).to.have.length(1);
      expect(await prepareDeliveries(admin.database, CAP)).to.equal(1);
      expect(await prepareDeliveries(admin.database, CAP)).to.equal(0);
    });

    it('lets one go whose job has failed, and refuses one that has no number yet', async () => {
      const id = await newWebhook();
      await rows(
        admin.database,
        `UPDATE webhook_deliveries SET next_step = NULL, next_step_at = NULL,
           parked_reason = 'job failed: bug' WHERE event_id = :id`,
        { id },
      );
      expect(await resend(id)).to.include({ resent: true, parked_reason: null });
      const fresh = await newEvent(admin.database, merchant, SHOP);
      await admin.refused([[`webhooks resend ${fresh}`, `Webhook ${fresh} has no number yet`]]);
      await prepareDeliveries(admin.database, 0);
    });

    it('is seen in the file of its payment, with the operator', async () => {
      const id = await newWebhook();
      await attempt(id, { status: 200 });
      await resend(id);
      const { decisions } = (await admin.json(`payment show ${id}`)) as Record<string, Document[]>;
      expect(decisions).to.have.length(1);
      expect(decisions![0]).to.include({ actor: 'tester', action: 'webhooks.resend' });
    });
  });

  describe('list', () => {
    it('has the webhooks of a payment or a phone in every state', async () => {
      const delivered = await newWebhook();
      await attempt(delivered, { status: 200 });
      const tried = await newWebhook();
      await attempt(tried, { status: 500 });
      const list = async (options: string) => {
        const { webhooks } = await admin.json(`webhooks list ${options}`);
        return (webhooks as Document[]).map(({ id }) => id);
      };
      const { ref_no } = await show(delivered);
      expect(await list(`--payment ${ref_no}`)).to.deep.equal([delivered]);
      const ours = `--payment 0712345678 --merchant ${merchant.merchant_id}`;
      expect(await list(ours)).to.deep.equal([delivered, tried]);
      expect(await list(`${ours} --status delivered`)).to.deep.equal([delivered]);
      expect(await list(`${ours} --status pending`)).to.deep.equal([tried]);
      expect(await list(`${ours} --status exhausted`)).to.deep.equal([]);
      expect(await list(`${ours} --limit 1 --after ${delivered}`)).to.deep.equal([tried]);
      await admin.refused([['webhooks list --payment x', 'No payment is known by "x"']]);
    });
  });
});
