import { expect } from 'chai';
import { UNANSWERED } from '../../../scripts/simulator/behaviours.ts';
import { type Simulator, startSimulator } from '../../../scripts/simulator/server.ts';
import type {
  Gateway,
  GatewayPaymentKind,
  SubmitRequest,
  Verdict,
} from '../../../src/gateways/gateway.ts';
import { createSimulatorGateway } from '../../../src/gateways/simulator/driver.ts';
import { readPayment } from '../../../src/gateways/simulator/messages.ts';
import {
  aSubmission,
  type CallbackReceiver,
  eventually,
  startCallbackReceiver,
} from '../../support/gateway-fixtures.ts';

const TIMEOUT_MS = 10_000;
/** Long enough for a query to find a payment still open on a busy machine. */
const DELAY_MS = 1_000;
const SLOW_SUCCESS_MS = 3_000;

/**
 * What a merchant's side sees of an account's payment, in order. A submission of unknown
 * outcome is followed by a query, and by another submission if that finds nothing.
 */
interface Row {
  account: string;
  seen: string[];
  /** Of the 100.00 asked for; null when none moves. */
  moved: string | null;
}

const NORMAL = ['submit acknowledged', 'callback succeeded'];

/** What disturbs the messages does so for every kind of payment. */
const DELIVERIES: Row[] = [
  { account: '…000', moved: '100.00', seen: NORMAL },
  { account: '…101', moved: '100.00', seen: ['submit acknowledged'] },
  { account: '…102', moved: '100.00', seen: [...NORMAL, 'callback succeeded'] },
  { account: '…103', moved: '100.00', seen: ['callback succeeded', 'submit acknowledged'] },
  {
    account: '…104',
    moved: '100.00',
    seen: ['submit unknown', 'query pending', 'callback succeeded'],
  },
  { account: '…105', moved: '100.00', seen: ['submit unknown', 'query notFound', ...NORMAL] },
  {
    account: '…106',
    moved: '100.00',
    seen: ['submit unknown', 'query notFound', 'submit unknown', 'query notFound', ...NORMAL],
  },
  { account: '…108', moved: '100.00', seen: NORMAL },
];

const FORWARD: Row[] = [
  ...DELIVERIES,
  { account: '…001', moved: null, seen: ['submit declined 1'] },
  { account: '…032', moved: null, seen: ['submit acknowledged', 'callback failed 1032'] },
  { account: '…037', moved: null, seen: ['submit acknowledged', 'callback failed 1037'] },
  {
    account: '…107',
    moved: '100.00',
    seen: ['submit acknowledged', 'callback failed 1037', 'callback succeeded'],
  },
  { account: '…109', moved: '100.00', seen: NORMAL },
  { account: '…110', moved: '100.00', seen: NORMAL },
  { account: '…111', moved: '50.00', seen: NORMAL },
];

const BACK: Row[] = [
  ...DELIVERIES,
  { account: '…001', moved: '100.00', seen: NORMAL },
  { account: '…032', moved: '100.00', seen: NORMAL },
  { account: '…037', moved: '100.00', seen: NORMAL },
  { account: '…107', moved: '100.00', seen: NORMAL },
  { account: '…109', moved: null, seen: ['submit declined 21'] },
  {
    account: '…110',
    moved: '100.00',
    seen: ['submit unknown', 'query noAnswer', 'callback succeeded'],
  },
  { account: '…111', moved: '100.00', seen: NORMAL },
];

const ROWS: Record<GatewayPaymentKind, Row[]> = {
  collection: FORWARD,
  payout: FORWARD,
  reversal: BACK,
  return: BACK,
};
const KINDS = ['collection', 'return'] as const;
const STATEMENT_KINDS = {
  collection: 'collection',
  payout: 'payout',
  reversal: 'reversal',
  return: 'reversal',
};

describe('simulator behaviours', () => {
  const seen = new Map<string, string[]>();
  let simulator: Simulator;
  let receiver: CallbackReceiver;
  let gateway: Gateway;

  const played = new Map<Row, SubmitRequest>();
  const verdictIn = (body: string) => readPayment(JSON.parse(body))!.verdict;

  before(async () => {
    const delays = { delayMs: DELAY_MS, slowSuccessMs: SLOW_SUCCESS_MS };
    simulator = await startSimulator({ port: 0, ...delays, log: () => {} });
    gateway = createSimulatorGateway({
      baseUrl: simulator.url,
      timeoutMs: TIMEOUT_MS,
      settlingWindowMs: 0,
    });
    receiver = await startCallbackReceiver((reference, body) => {
      see(reference, 'callback', verdictIn(body));
    });
    // All at once, since they spend their time waiting. What does not end fails its own test.
    const plays = KINDS.flatMap((kind) => ROWS[kind].map((row) => play(kind, row)));
    await Promise.allSettled(plays);
    await aMomentLater();
  });
  after(async () => {
    await simulator.close();
    await receiver.close();
  });

  function see(reference: string, what: string, result: { outcome: string; code?: number }): void {
    const code = result.code === undefined ? '' : ` ${result.code}`;
    seen.set(reference, [...(seen.get(reference) ?? []), `${what} ${result.outcome}${code}`]);
  }

  function prepare(kind: GatewayPaymentKind, account: string, amountCents = 100_00): SubmitRequest {
    const request = aSubmission(kind, account.replace('…', '+254700000'), { amountCents });
    return { ...request, callbackUrl: receiver.urlFor(request.reference) };
  }

  async function submit(request: SubmitRequest): Promise<void> {
    const result = await gateway.submit(request);
    see(request.reference, 'submit', result);
    if (result.outcome !== 'unknown') return;
    const answer = await gateway.query({ ...request, externalRef: null });
    see(request.reference, 'query', answer);
    if (answer.outcome === 'notFound') await submit(request);
  }

  const query = (request: SubmitRequest) => gateway.query({ ...request, externalRef: null });
  const ended = (request: SubmitRequest, outcome: Verdict['outcome']) =>
    eventually(async () => (await query(request)).outcome === outcome);

  /** What was to come in a moment has come when a payment made after it has ended. */
  async function aMomentLater(): Promise<void> {
    const request = prepare('collection', '…000');
    await gateway.submit(request);
    await eventually(() => receiver.bodiesOf(request.reference)[0]);
  }

  async function statementOf({ reference }: SubmitRequest): Promise<Record<string, unknown>[]> {
    const response = await fetch(`${simulator.url}/statement?reference=${reference}`);
    return (await response.json()) as Record<string, unknown>[];
  }

  for (const kind of KINDS) {
    for (const row of ROWS[kind]) {
      it(`${kind} of ${row.account}: ${row.seen.join(', ')}; moved: ${row.moved}`, async () => {
        const request = played.get(row)!;
        expect(seen.get(request.reference)).to.deep.equal(row.seen);
        const verdict = await query(request);
        expect(verdict.outcome).to.equal(row.moved ? 'succeeded' : 'failed');
        await expectSameAnswerAgain(request, verdict as Verdict, row);
        await expectMovement(request, verdict as Verdict, row);
      });
    }
  }

  async function play(kind: GatewayPaymentKind, row: Row): Promise<void> {
    const request = prepare(kind, row.account);
    played.set(row, request);
    await submit(request);
    await ended(request, row.moved ? 'succeeded' : 'failed');
    await eventually(() => seen.get(request.reference)!.length >= row.seen.length);
  }

  /** A decline was the answer to the submission; every other payment was acknowledged. */
  async function expectSameAnswerAgain(request: SubmitRequest, verdict: Verdict, row: Row) {
    const { externalRef } = verdict;
    const isDecline = row.seen.at(-1)!.startsWith('submit declined');
    const first = isDecline
      ? { ...verdict, outcome: 'declined' }
      : { outcome: 'acknowledged', externalRef };
    expect(await gateway.submit(request), 'answer to a repeat').to.deep.equal(first);
  }

  async function expectMovement(request: SubmitRequest, verdict: Verdict, row: Row) {
    const { kind, reference, account } = request;
    const statement = await statementOf(request);
    if (verdict.outcome === 'failed') return expect(statement).to.deep.equal([]);
    const { transId, completedAt } = verdict;
    expect(transId).to.match(/^[A-Z][A-Z0-9]{9}$/);
    const movement = { reference, kind: STATEMENT_KINDS[kind], account, amount: row.moved };
    const completed = { trans_id: transId, completed_at: completedAt?.toISOString() };
    expect(statement).to.deep.equal([{ ...movement, ...completed }]);
    const called = receiver.bodiesOf(reference).map(verdictIn);
    const successes = called.filter((each) => each.outcome === 'succeeded');
    for (const success of successes) expect(success).to.deep.equal(verdict);
  }

  it('one account: acknowledges, and never says how it ended; its last digits alone mean nothing', async () => {
    const other = prepare('collection', '…112');
    await submit(other);
    await ended(other, 'succeeded');
    const request = prepare('collection', UNANSWERED);
    await submit(request);
    await aMomentLater();
    expect(seen.get(request.reference)).to.deep.equal(['submit acknowledged']);
    expect((await query(request)).outcome).to.equal('pending');
    expect(await statementOf(request)).to.deep.equal([]);
  });

  it('107: says failed until the late success', async () => {
    const request = prepare('collection', '…107');
    await gateway.submit(request);
    await ended(request, 'failed');
    expect(await statementOf(request)).to.deep.equal([]);
    await aMomentLater();
    expect(await query(request)).to.include({ outcome: 'failed', code: 1037 });
    await ended(request, 'succeeded');
  });

  for (const [kind, account, said] of [
    ['collection', '…108', 'pending'],
    ['return', '…108', 'pending'],
    ['return', '…110', 'noAnswer'],
  ] as const) {
    it(`${kind} of ${account}: ${said} is said of it when later payments have ended`, async () => {
      const request = prepare(kind, account);
      await gateway.submit(request);
      await aMomentLater();
      expect((await query(request)).outcome).to.equal(said);
      await ended(request, 'succeeded');
    });
  }

  it('111: moves another amount whatever was asked, and never less than 1.00', async () => {
    const amounts = [
      [1, 101],
      [1_00, 2_00],
      [1_99, 2_99],
      [2_00, 1_00],
      [3_01, 1_50],
      [999_999_99, 499_999_99],
    ];
    await Promise.all(
      amounts.map(async ([asked, moved]) => {
        const request = prepare('collection', '…111', asked);
        await gateway.submit(request);
        await ended(request, 'succeeded');
        expect(await query(request)).to.include({ amountCents: moved });
      }),
    );
  });
});
