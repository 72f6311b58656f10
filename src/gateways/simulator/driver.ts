import type { Got } from 'got';
import { ANY_AMOUNT } from '../../domain/money.ts';
import { duration, httpUrl } from '../../process/setting-types.ts';
import type { DriverDefinition } from '../driver.ts';
import type {
  Gateway,
  GatewayPaymentKind,
  QueryRequest,
  QueryResult,
  StatementResult,
  SubmitRequest,
  SubmitResult,
} from '../gateway.ts';
import { createHttpClient, exchange } from '../http-exchange.ts';
import {
  isNotFound,
  readPayment,
  readStatement,
  readSubmission,
  type SimulatedPayment,
  submissionBody,
} from './messages.ts';

const SIMULATOR_SETTINGS = {
  SIMULATOR_URL: httpUrl()
    .default('http://127.0.0.1:8090')
    .describe('Address of the gateway simulator'),
  SIMULATOR_SETTLING_WINDOW_MS: duration(0)
    .default(2_000)
    .describe('Time after a submission in which a simulator’s “not found” proves nothing'),
};

/** The gateway simulator of `scripts/simulator`, for development and tests. It moves no money. */
export const simulator: DriverDefinition<typeof SIMULATOR_SETTINGS> = {
  name: 'simulator',
  settings: SIMULATOR_SETTINGS,
  // Mobile money.
  usualChannels: [63902, 63903, 63907],
  productionRules: ({ given }) => [
    [
      given.CHANNELS?.includes('simulator') || given.SIMULATOR_URL,
      'CHANNELS and SIMULATOR_URL must not name the simulator in production',
    ],
  ],
  callbackAnswer: { status: 200, body: { status: 'received' } },
  create: (settings, { timeoutMs }) => {
    const gateway = createSimulatorGateway({
      baseUrl: settings.SIMULATOR_URL,
      timeoutMs,
      settlingWindowMs: settings.SIMULATOR_SETTLING_WINDOW_MS,
    });
    return { gateways: [gateway], routes: { collection: gateway.name, payout: gateway.name } };
  },
};

interface SimulatorGatewayOptions {
  /** The simulator's address, http or https. */
  baseUrl: string;
  /** The limit for one whole exchange, from the name lookup to the answer's last byte. */
  timeoutMs: number;
  /** The time after a submission in which "not found" proves nothing. */
  settlingWindowMs: number;
}

/**
 * Creates the driver of the gateway simulator. Each call is one HTTP request that is never
 * repeated. An answer that does not exactly match the protocol is `unknown` (submissions) or
 * `noAnswer` (queries).
 */
export function createSimulatorGateway(options: SimulatorGatewayOptions): Gateway {
  const client = createHttpClient(options.baseUrl, options.timeoutMs);
  return {
    name: 'simulator',
    resubmit: () => 'safe',
    settlingWindowMs: options.settlingWindowMs,
    answerWindowMs: 0,
    amounts: { collection: ANY_AMOUNT, payout: ANY_AMOUNT },
    submit: (request) => submit(client, request),
    query: (request) => query(client, request),
    statement: (start, end) => statement(client, start, end),
    statementCovers: ['collection', 'payout', 'reversal'],
    parseCallback,
  };
}

/** Reads the body of a callback. Returns null when the simulator did not write it. Never throws. */
function parseCallback(body: string): SimulatedPayment | null {
  try {
    return readPayment(JSON.parse(body));
  } catch {
    return null;
  }
}

const SUBMISSION_PATHS: Record<GatewayPaymentKind, string> = {
  collection: 'collections',
  payout: 'payouts',
  reversal: 'reversals',
  return: 'returns',
};

async function submit(client: Got, request: SubmitRequest): Promise<SubmitResult> {
  const path = SUBMISSION_PATHS[request.kind];
  const options = { method: 'POST', json: submissionBody(request) } as const;
  const result = await exchange(client, path, options, { deadline: request.deadline });
  if (result.outcome === 'neverSent') return { outcome: 'notTaken', reason: result.reason };
  if (result.outcome === 'lost') return { outcome: 'unknown', reason: result.reason };
  // 429 is the only status that promises that the request was not processed.
  if (result.status === 429) return { outcome: 'notTaken', reason: 'HTTP 429' };
  const answer = readSubmission(result.status, result.body);
  return answer ?? { outcome: 'unknown', reason: `Unexpected answer, HTTP ${result.status}` };
}

async function query(client: Got, request: QueryRequest): Promise<QueryResult> {
  const path = `payments/${encodeURIComponent(request.reference)}`;
  const result = await exchange(client, path, { method: 'GET' });
  if (result.outcome !== 'answered') return { outcome: 'noAnswer', reason: result.reason };
  // Any server can answer 404. Only the simulator's own words say that the payment is unknown.
  if (result.status === 404 && isNotFound(result.body)) return { outcome: 'notFound' };
  const payment = result.status === 200 ? readPayment(result.body) : null;
  // An answer about another payment says nothing about this one.
  if (payment?.reference === request.reference) return payment.verdict;
  return { outcome: 'noAnswer', reason: `Unexpected answer, HTTP ${result.status}` };
}

/** A statement may have some hundred thousand movements. */
const MAX_STATEMENT_BYTES = 64 * 1024 * 1024;

async function statement(client: Got, start: Date, end: Date): Promise<StatementResult> {
  const searchParams = { from: start.toISOString(), to: end.toISOString() };
  const request = { method: 'GET', searchParams } as const;
  const result = await exchange(client, 'statement', request, {
    maxAnswerBytes: MAX_STATEMENT_BYTES,
  });
  if (result.outcome !== 'answered') return { outcome: 'noAnswer', reason: result.reason };
  const lines = result.status === 200 ? readStatement(result.body) : null;
  if (lines) return { outcome: 'lines', lines };
  return { outcome: 'noAnswer', reason: `Unexpected answer, HTTP ${result.status}` };
}
