import { expect } from 'chai';
import type { SubmitRequest } from '../../../src/gateways/gateway.ts';
import { createSimulatorGateway } from '../../../src/gateways/simulator/driver.ts';
import {
  aSubmission,
  bodyOf,
  type LocalServer,
  startLocalServer,
} from '../../support/gateway-fixtures.ts';

const TIMEOUT_MS = 10_000;
const TOO_LARGE_BYTES = 1024 * 1024;

const makeGateway = (baseUrl: string) =>
  createSimulatorGateway({ baseUrl, timeoutMs: TIMEOUT_MS, settlingWindowMs: 0 });

const SUCCEEDED = {
  reference: 'ref-1',
  kind: 'collection',
  status: 'succeeded',
  external_ref: 'SIM-1',
  amount: '1234.50',
  account: '+254700000000',
  trans_id: 'SJK3ABCDE1',
  result_code: 0,
  result_description: 'Processed',
  completed_at: '2026-01-31T12:00:00.250Z',
};
const FAILED = {
  ...SUCCEEDED,
  status: 'failed',
  trans_id: null,
  result_code: 1032,
  result_description: 'Cancelled',
};
const SUCCESS = {
  outcome: 'succeeded',
  transId: 'SJK3ABCDE1',
  externalRef: 'SIM-1',
  amountCents: 1234_50,
  account: '+254700000000',
  description: 'Processed',
  completedAt: new Date('2026-01-31T12:00:00.250Z'),
};
const FAILURE = { outcome: 'failed', code: 1032, description: 'Cancelled', externalRef: 'SIM-1' };

const RESULT = { address: 'result', kind: 'collection' } as const;

const withAmount = (amount: unknown) => ({ ...SUCCEEDED, amount });
const withTime = (completed_at: unknown) => ({ ...SUCCEEDED, completed_at });

/** Payments that are almost right, and must not be read as anything. */
const MALFORMED = [
  ...['100', '100.0', '100.000', '1e3', '01.00', ' 1.00', '100.00\n'].map(withAmount),
  ...['-1.00', '+1.00', '0.00', '1,000.00', '99999999999.00', '١.٠٠', 100, null].map(withAmount),
  ...['', null, 7, 'a\u0000b', 'x'.repeat(501)].map((trans_id) => ({ ...SUCCEEDED, trans_id })),
  ...['', null, {}].map((reference) => ({ ...SUCCEEDED, reference })),
  ...[undefined, null, ['SIM-1']].map((external_ref) => ({ ...SUCCEEDED, external_ref })),
  ...[null, '31/01/2026', 1_769_860_800].map(withTime),
  ...['2026-01-31T25:00:00Z', '2026-02-30T12:00:00Z', '2026-01-31T12:00:00'].map(withTime),
  ...[null, 1, '0', 0.5].map((result_code) => ({ ...SUCCEEDED, result_code })),
  ...['SUCCEEDED', 'completed', null, true].map((status) => ({ ...SUCCEEDED, status })),
  ...[0, null, '1032', 10.5].map((result_code) => ({ ...FAILED, result_code })),
  { ...FAILED, result_description: null },
];

describe('simulator driver', () => {
  const { parseCallback } = makeGateway('http://127.0.0.1:9');

  it('reads callbacks of every status', () => {
    const read = (body: object) => parseCallback(JSON.stringify(body), RESULT);
    expect(read(SUCCEEDED)).to.deep.equal({ reference: 'ref-1', verdict: SUCCESS });
    expect(read(FAILED)).to.deep.equal({ reference: 'ref-1', verdict: FAILURE });
    const pending = { ...SUCCEEDED, status: 'pending', trans_id: null, completed_at: null };
    expect(read(pending)).to.deep.equal({ reference: 'ref-1', verdict: { outcome: 'pending' } });
  });

  it('reads nothing in a callback that is almost right', () => {
    for (const body of MALFORMED) {
      expect(parseCallback(JSON.stringify(body), RESULT), JSON.stringify(body)).to.equal(null);
    }
  });

  it('refuses what is no amount as a bug of its caller', async () => {
    for (const amountCents of [0, -1, 0.5, Number.NaN, 2 ** 53]) {
      const request = aSubmission('collection', '+254700000000', { amountCents });
      const error = await makeGateway('http://127.0.0.1:9')
        .submit(request)
        .catch((each) => each);
      expect(error).to.be.instanceOf(RangeError);
    }
  });

  describe('with a server that answers anything', () => {
    let server: LocalServer;
    let answer: { status: number; body: unknown };
    let received: { line: string; body: string }[];

    before(async () => {
      server = await startLocalServer(async (req, res) => {
        received.push({ line: `${req.method} ${req.url}`, body: await bodyOf(req) });
        res.writeHead(answer.status).end(JSON.stringify(answer.body));
      });
    });
    after(() => server.close());
    beforeEach(() => {
      received = [];
    });

    const submit = (fields: Partial<SubmitRequest> = {}, status = 202, body: unknown = {}) => {
      answer = { status, body };
      const request = aSubmission('collection', '+254700000000', { reference: 'ref-1', ...fields });
      return makeGateway(server.url).submit(request);
    };
    const query = (status: number, body: unknown, reference = 'ref-1') => {
      answer = { status, body };
      const question = {
        kind: 'collection',
        reference,
        externalRef: null,
        callbackUrl: null,
        timeoutUrl: null,
      } as const;
      return makeGateway(server.url).query(question);
    };

    it('sends each kind to its own path, with amounts as text', async () => {
      const fields = { callbackUrl: 'http://127.0.0.1:9/secret' };
      const none = { accountNumber: null };
      await submit({ ...fields, amountCents: 1234_05 });
      await submit({ ...fields, ...none, kind: 'payout', channel: 68, narration: 'Wages' });
      await submit({ ...fields, ...none, kind: 'reversal', originalTransId: 'SJK3ABCDE1' });
      await submit({ ...fields, ...none, kind: 'return', originalTransId: 'SJK3ABCDE1' });
      expect(received.map(({ line }) => line)).to.deep.equal([
        'POST /collections',
        'POST /payouts',
        'POST /reversals',
        'POST /returns',
      ]);
      const common = {
        reference: 'ref-1',
        account: '+254700000000',
        amount: '100.00',
        channel: 63902,
        callback_url: 'http://127.0.0.1:9/secret',
        account_number: null,
        narration: null,
        original_trans_id: null,
      };
      expect(received.map(({ body }) => JSON.parse(body))).to.deep.equal([
        { ...common, amount: '1234.05', account_number: 'INV-001' },
        { ...common, channel: 68, narration: 'Wages' },
        { ...common, original_trans_id: 'SJK3ABCDE1' },
        { ...common, original_trans_id: 'SJK3ABCDE1' },
      ]);
    });

    it('works below a path and with a trailing slash', async () => {
      answer = { status: 404, body: { status: 'not_found' } };
      const question = {
        kind: 'return',
        reference: 'a/b?c',
        externalRef: null,
        callbackUrl: null,
        timeoutUrl: null,
      } as const;
      for (const path of ['/gateway', '/gateway/']) {
        const result = await makeGateway(`${server.url}${path}`).query(question);
        expect(result).to.deep.equal({ outcome: 'notFound' });
      }
      const line = 'GET /gateway/payments/a%2Fb%3Fc';
      expect(received.map((each) => each.line)).to.deep.equal([line, line]);
    });

    it('believes an answer to a submission only if status and body agree', async () => {
      const accepted = { status: 'accepted', external_ref: 'SIM-1' };
      const declined = {
        status: 'declined',
        result_code: 1,
        result_description: 'No',
        external_ref: 'SIM-1',
      };
      expect(await submit({}, 202, accepted)).to.deep.equal({
        outcome: 'acknowledged',
        externalRef: 'SIM-1',
      });
      expect(await submit({}, 200, declined)).to.deep.equal({
        outcome: 'declined',
        code: 1,
        description: 'No',
        externalRef: 'SIM-1',
      });
      const odd: [number, unknown][] = [
        [200, accepted],
        [201, accepted],
        [202, declined],
        [400, declined],
        [500, accepted],
        [400, { detail: 'Invalid amount' }],
        [200, { ...declined, result_code: 0 }],
        [200, { ...declined, result_code: '1' }],
        [200, { ...declined, result_description: null }],
        [202, { ...accepted, external_ref: null }],
        [202, { ...accepted, status: 'rejected' }],
      ];
      for (const [status, body] of odd) {
        expect(await submit({}, status, body), JSON.stringify(body)).to.include({
          outcome: 'unknown',
        });
      }
    });

    it('does not read an answer that is far too large', async () => {
      const padding = 'x'.repeat(TOO_LARGE_BYTES);
      const accepted = { status: 'accepted', external_ref: 'SIM-1', padding };
      expect(await submit({}, 202, accepted)).to.include({ outcome: 'unknown' });
      expect(await query(200, { ...SUCCEEDED, padding })).to.include({ outcome: 'noAnswer' });
    });

    it('tells what a query says about this reference and nothing else', async () => {
      expect(await query(200, SUCCEEDED)).to.deep.equal(SUCCESS);
      expect(await query(200, FAILED)).to.deep.equal(FAILURE);
      expect(await query(200, { ...SUCCEEDED, status: 'pending' })).to.deep.equal({
        outcome: 'pending',
      });
      expect(await query(404, { status: 'not_found' })).to.deep.equal({ outcome: 'notFound' });
      for (const [status, body] of [
        [200, { ...SUCCEEDED, reference: 'ref-2' }],
        [202, SUCCEEDED],
        [500, SUCCEEDED],
        [404, SUCCEEDED],
        [404, { detail: 'Not found' }],
        [404, {}],
        [200, { status: 'not_found' }],
      ] as const) {
        expect(await query(status, body), JSON.stringify(body)).to.include({ outcome: 'noAnswer' });
      }
      for (const body of MALFORMED) {
        expect(await query(200, body), JSON.stringify(body)).to.include({ outcome: 'noAnswer' });
      }
    });
  });
});
