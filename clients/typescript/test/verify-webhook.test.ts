import { expect } from 'chai';
import { signatureHeaders } from '../../../src/domain/webhooks/sign.ts';
import { TOLERANCE_S, verifyWebhook, WebhookVerificationError } from '../src/index.ts';

const APP_SECRET = 'as_4f0c6a1e9b';
const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;
const OTHER_SECRET = 'as_other';

const BODY = JSON.stringify({
  notification: { type: 'collection', event: 'transaction.completed' },
  data: { id: '01a1f87d', amount: '250.00', ref_no: 'order-1042' },
});

interface Signed {
  secrets?: string[];
  /** How long ago it was sent. */
  ageS?: number;
  body?: string;
}

/** Returns the headers that the service sends. */
function headersOf(signed: Signed = {}): Record<string, string> {
  const { secrets = [APP_SECRET], ageS = 0, body = BODY } = signed;
  const timestamp = Math.floor(Date.now() / 1_000) - ageS;
  return signatureHeaders({ event_id: 'event-1', sequence: 7, timestamp, body, secrets });
}

const refusal = (...input: Parameters<typeof verifyWebhook>) => {
  try {
    return verifyWebhook(...input);
  } catch (error) {
    return error;
  }
};
const expectRefusal = (...input: Parameters<typeof verifyWebhook>) =>
  expect(refusal(...input)).to.be.instanceOf(WebhookVerificationError);

describe('The client’s verification of webhooks', () => {
  for (const [kind, secret] of [
    ['an app secret', APP_SECRET],
    ['a webhook secret', WEBHOOK_SECRET],
  ] as const) {
    it(`returns the event of one that is signed with ${kind}`, () => {
      const event = verifyWebhook(BODY, headersOf({ secrets: [secret] }), secret);
      expect(event).to.deep.equal({
        ...{ type: 'collection', event: 'transaction.completed', id: 'event-1', sequence: 7 },
        data: { id: '01a1f87d', amount: '250.00', ref_no: 'order-1042' },
      });
    });
  }

  it('takes text and bytes, and headers of any form', () => {
    const headers = headersOf();
    const upper = Object.fromEntries(Object.entries(headers).map(([n, v]) => [n.toUpperCase(), v]));
    for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)]) {
      for (const each of [headers, upper, new Headers(headers)]) {
        expect(verifyWebhook(body, each, APP_SECRET).data.ref_no).to.equal('order-1042');
      }
    }
  });

  it('takes one that is signed with any of the secrets that the receiver has', () => {
    const secrets = [OTHER_SECRET, APP_SECRET];
    expect(verifyWebhook(BODY, headersOf(), secrets).id).to.equal('event-1');
    expectRefusal(BODY, headersOf(), OTHER_SECRET);
  });

  it('takes one of an overlap, whichever of the two secrets the receiver has', () => {
    const headers = headersOf({ secrets: [APP_SECRET, WEBHOOK_SECRET] });
    for (const secret of [APP_SECRET, WEBHOOK_SECRET]) {
      expect(verifyWebhook(BODY, headers, secret).sequence).to.equal(7);
    }
    expectRefusal(BODY, headers, OTHER_SECRET);
  });

  it('refuses one whose body or id was changed', () => {
    expectRefusal(BODY.replace('250.00', '950.00'), headersOf(), APP_SECRET);
    expectRefusal(` ${BODY}`, headersOf(), APP_SECRET);
    expectRefusal(BODY, { ...headersOf(), 'webhook-id': 'event-2' }, APP_SECRET);
  });

  it('refuses one with a wrong signature of either kind', () => {
    for (const name of ['x-service-signature', 'webhook-signature']) {
      const headers = headersOf();
      const swapped = headers[name]!.replace(/.{4}$/, 'AAA=');
      expectRefusal(BODY, { ...headers, [name]: swapped }, APP_SECRET);
    }
  });

  it('refuses one that lacks a header', () => {
    for (const name of Object.keys(headersOf())) {
      const { [name]: _, ...rest } = headersOf();
      expectRefusal(BODY, rest, APP_SECRET);
      expectRefusal(BODY, { ...rest, [name]: '' }, APP_SECRET);
    }
  });

  it('refuses one whose time is far from now, or no time', () => {
    const margin = 5;
    expect(verifyWebhook(BODY, headersOf({ ageS: TOLERANCE_S - margin }), APP_SECRET).id).to.be.ok;
    for (const ageS of [TOLERANCE_S + margin, -TOLERANCE_S - margin]) {
      expectRefusal(BODY, headersOf({ ageS }), APP_SECRET);
    }
    const headers = { ...headersOf(), 'x-service-timestamp': 'x', 'webhook-timestamp': 'x' };
    expectRefusal(BODY, headers, APP_SECRET);
    expectRefusal(BODY, { ...headersOf(), 'webhook-timestamp': '1' }, APP_SECRET);
  });

  it('refuses one that is signed but no JSON object', () => {
    for (const body of ['', 'no JSON', 'null']) {
      expectRefusal(body, headersOf({ body }), APP_SECRET);
    }
  });

  it('tells an example from a payment, although its result is 0', () => {
    const notification = { type: 'test', event: 'webhook.test' };
    const body = JSON.stringify({ notification, data: { result_code: 0 } });
    const event = verifyWebhook(body, headersOf({ body }), APP_SECRET);
    expect(event).to.include({ event: 'webhook.test', type: 'test' });
  });

  it('does not work without a secret, since anybody can sign with none', () => {
    const forged = headersOf({ secrets: [''] });
    for (const secrets of ['', [], [APP_SECRET, ''], 'whsec_']) {
      expect(refusal(BODY, forged, secrets)).to.be.instanceOf(TypeError);
    }
  });
});
