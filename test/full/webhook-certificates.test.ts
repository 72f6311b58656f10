import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { startTlsFront, type TlsFront } from '../../scripts/sandbox/processes/tls-front.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { firstRow } from '../../src/connections/database.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { environment } from '../support/environment.ts';
import { deliveryOf, newEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestStore, type TestStore } from '../support/payments.ts';
import { describeWith, PROGRAMS_FROM } from '../support/programs.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

/** The certificates here are for `localhost` only. */
const OTHER_NAME = '127.0.0.1';

describeWith(['openssl'], 'A webhook by HTTPS', () => {
  let store: TestStore;
  let merchant: TestMerchant;
  let shop: FakeMerchant;
  let trusted: TlsFront;
  let strange: TlsFront;
  let selfSigned: TlsFront;
  let running: ServiceProcess[];

  before(async () => {
    store = await createTestStore();
    merchant = await store.newMerchant();
    shop = await startFakeMerchant();
    // Each set is signed by an authority of its own. The worker trusts the first one's.
    const certificates = await makeCertificates('DNS:localhost');
    trusted = await startTlsFront(shop.url, certificates);
    strange = await startTlsFront(shop.url, await makeCertificates('DNS:localhost'));
    const { strangeCa, strangeKey } = certificates;
    selfSigned = await startTlsFront(shop.url, { cert: strangeCa, key: strangeKey });
    running = await startWorkers(certificates);
  });

  after(async () => {
    await Promise.all((running ?? []).map((each) => each.stop()));
    await Promise.all([trusted, strange, selfSigned].map((front) => front?.close()));
    await shop?.close();
    await store?.drop();
  });

  /** An authority is trusted from the start of a process, or not at all. */
  async function startWorkers({ ca }: Certificates): Promise<ServiceProcess[]> {
    const options = {
      ...{ logFolder: makeFolder('webhook-certificates'), reaper: environment.reaper },
      from: PROGRAMS_FROM,
    } as const;
    const env = async () => ({
      PATH: process.env.PATH,
      DATABASE_URL: store.url,
      PUBLIC_URL: 'http://127.0.0.1',
      METRICS_PORT: String(await findFreePort()),
      NODE_EXTRA_CA_CERTS: ca,
    });
    const start = async (type: 'dispatcher' | 'webhooks') =>
      startProcess(type, { ...options, env: await env() });
    return Promise.all([start('dispatcher'), start('webhooks')]);
  }

  /** Sends one webhook there. @returns what was recorded of its first attempt. */
  async function attemptTo(url: string) {
    const event_id = await newEvent(store.database, merchant, url);
    const attempt = await eventually('the attempt', () =>
      firstRow<{ response_status: number | null; error: string | null; answer: string | null }>(
        store.database,
        'SELECT * FROM webhook_attempts WHERE merchant_id = :merchant_id AND event_id = :event_id',
        { merchant_id: merchant.merchant_id, event_id },
      ),
    );
    const { status } = await deliveryOf(store.database, event_id);
    return { ...attempt, status, received: shop.received.length };
  }

  it('is delivered where an authority that is trusted has signed for the name', async () => {
    const sent = await attemptTo(trusted.url);
    expect(sent).to.include({ response_status: 200, error: null, status: 'delivered' });
    expect(sent.received).to.equal(1);
  });

  const REFUSED: [what: string, urlOf: () => string, error: RegExp][] = [
    [
      'the certificate is for another name',
      () => trusted.url.replace('localhost', OTHER_NAME),
      /does not match certificate's altnames/,
    ],
    ['nobody known has signed the certificate', () => strange.url, /unable to verify/],
    ['the certificate has signed itself', () => selfSigned.url, /self-signed certificate/],
  ];
  for (const [what, urlOf, error] of REFUSED) {
    it(`is not sent, and tried again, where ${what}`, async () => {
      const before = shop.received.length;
      const sent = await attemptTo(urlOf());
      expect(sent).to.include({ response_status: null, answer: null, status: 'pending' });
      expect(sent.error).to.match(error);
      expect(sent.received).to.equal(before);
      const healthy = await attemptTo(trusted.url);
      expect(healthy).to.include({ status: 'delivered', received: before + 1 });
    });
  }
});
