import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import type { EndedPayment } from '../domain/webhooks/prepare-deliveries.ts';
import type { Gateway } from '../gateways/gateway.ts';
import { tracedCall } from '../tracing/tracing.ts';

/** From an answer out of memory to a reversal that waits for its gateway. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
/** Calls to gateways and to merchants: none is faster than the network. */
const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
/** From a gateway that answers at once to a bank that takes two days. */
const PAYMENT_SECONDS = [
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600],
  ...[1_800, 3_600, 14_400, 43_200, 172_800],
];

export type Meters = ReturnType<typeof createMeters>;
export type HttpMeters = Meters['http'];

/** Creates what one process counts, in a registry of its own. No label is an id, but one is a merchant. */
export function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    http: {
      requests: new Histogram({
        name: 'malipo_http_request_duration_seconds',
        help: 'Requests answered, from their first byte to the end of the answer',
        labelNames: ['method', 'route', 'status'],
        buckets: SECONDS,
        registers,
      }),
      refusals: new Counter({
        name: 'malipo_http_refusals_total',
        help: 'Requests refused, by the code of the refusal',
        labelNames: ['code'],
        registers,
      }),
      reversalWaiters: new Gauge({
        name: 'malipo_http_reversal_waiters',
        help: 'Requests that wait now for the gateway to acknowledge a reversal',
        registers,
      }),
      reversalWaitersRefused: new Counter({
        name: 'malipo_http_reversal_waiters_refused_total',
        help: 'Reversals refused because too many requests were waiting',
        registers,
      }),
      webhookTests: new Gauge({
        name: 'malipo_http_webhook_tests',
        help: 'Webhook tests under way now',
        registers,
      }),
      webhookTestsRefused: new Counter({
        name: 'malipo_http_webhook_tests_refused_total',
        help: 'Webhook tests refused because too many were under way',
        registers,
      }),
    },
    securityEvents: new Counter({
      name: 'malipo_security_events_total',
      help: 'Events that matter to security, also those above the limit of what is recorded',
      labelNames: ['kind'],
      registers,
    }),
    gatewayCallbacks: new Counter({
      name: 'malipo_gateway_callbacks_total',
      help: 'Genuine callbacks that were stored, by driver',
      labelNames: ['gateway'],
      registers,
    }),
    gatewayCallbacksDropped: new Counter({
      name: 'malipo_gateway_callbacks_dropped_total',
      help: 'Genuine callbacks that were not stored: too many came to the same address in a day',
      labelNames: ['gateway'],
      registers,
    }),
    gatewayCalls: new Histogram({
      name: 'malipo_gateway_call_duration_seconds',
      help: 'Calls to gateways, by driver, by what was called and by its result',
      labelNames: ['gateway', 'call', 'result'],
      buckets: CALL_SECONDS,
      registers,
    }),
    unknownCodes: new Counter({
      name: 'malipo_gateway_unknown_codes_total',
      help: 'Answers and callbacks of gateways with a code that the driver does not know',
      labelNames: ['gateway'],
      registers,
    }),
    jobs: new Histogram({
      name: 'malipo_job_duration_seconds',
      help: 'Jobs run, by queue and by what came of the run',
      labelNames: ['queue', 'outcome'],
      buckets: SECONDS,
      registers,
    }),
    webhookAttempts: new Histogram({
      name: 'malipo_webhook_attempt_duration_seconds',
      help: 'Webhooks sent, by what follows from the attempt',
      labelNames: ['result'],
      buckets: CALL_SECONDS,
      registers,
    }),
    webhookNotices: new Counter({
      name: 'malipo_webhook_notices_total',
      help: 'Notices of outages of endpoints, by what they tell, by way and by what came of it',
      labelNames: ['kind', 'way', 'result'],
      registers,
    }),
    paymentsEnded: new Histogram({
      name: 'malipo_payment_duration_seconds',
      help: 'Payments that have ended, from their acceptance to their settlement event',
      labelNames: ['kind', 'state'],
      buckets: PAYMENT_SECONDS,
      registers,
    }),
    merchantPayments: new Summary({
      name: 'malipo_merchant_payment_duration_seconds',
      help: 'The same payments by merchant and channel. Its sum and count give a mean, no percentiles',
      labelNames: ['merchant', 'channel', 'state'],
      percentiles: [],
      registers,
    }),
    paymentsSettled: new Counter({
      name: 'malipo_payments_settled_total',
      help: 'Payments that have ended, by channel and by how that was learned',
      labelNames: ['channel', 'gateway', 'cause'],
      registers,
    }),
    stepsSwept: new Counter({
      name: 'malipo_steps_swept_total',
      help: 'Due steps that the sweeper has sent to their queue again',
      registers,
    }),
    bellRings: new Counter({
      name: 'malipo_dispatcher_rings_total',
      help: 'Rings that the dispatcher has heard: somebody had committed work for it',
      registers,
    }),
    dispatcherFailures: new Counter({
      name: 'malipo_dispatcher_round_failures_total',
      help: 'Rounds of the dispatcher that ended in an error, by loop',
      labelNames: ['loop'],
      registers,
    }),
  };
}

/** Merchants with values of their own: each costs memory here and in Prometheus. */
export const MAX_MERCHANTS = 500;
const OTHERS = 'other';

/** Returns what counts a payment that has ended. The merchants after the first 500 count as one. */
export function countEnded(meters: Meters): (ended: EndedPayment) => void {
  const known = new Set<number>();
  const nameOf = (merchantId: number) => {
    if (known.size < MAX_MERCHANTS) known.add(merchantId);
    return known.has(merchantId) ? merchantId : OTHERS;
  };
  return ({ kind, state, merchant_id, channel, gateway, cause, seconds }) => {
    meters.paymentsEnded.observe({ kind, state }, seconds);
    meters.merchantPayments.observe({ merchant: nameOf(merchant_id), channel, state }, seconds);
    meters.paymentsSettled.inc({ channel, gateway, cause: cause ?? 'unknown' });
  };
}

/** Returns the driver with its calls counted and timed. */
export function measuredGateway(
  gateway: Gateway,
  { gatewayCalls, unknownCodes }: Pick<Meters, 'gatewayCalls' | 'unknownCodes'>,
): Gateway {
  unknownCodes.inc({ gateway: gateway.name }, 0);
  const { statement, askReceipt } = gateway;
  const timed = async <Result extends { outcome: string }>(
    call: string,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const stop = gatewayCalls.startTimer({ gateway: gateway.name, call });
    // Stays so when the call throws, which is a bug of the driver and not an answer.
    let result = 'threw';
    try {
      const answer = await tracedCall(`gateway ${call}`, { 'malipo.gateway': gateway.name }, work);
      result = answer.outcome;
      if (namesUnknownCode(answer)) unknownCodes.inc({ gateway: gateway.name });
      return answer;
    } finally {
      stop({ result });
    }
  };
  // Every part of a driver, optional ones too: a new part does not compile without its line.
  return {
    name: gateway.name,
    resubmit: (kind) => gateway.resubmit(kind),
    settlingWindowMs: gateway.settlingWindowMs,
    answerWindowMs: gateway.answerWindowMs,
    amounts: gateway.amounts,
    pace: gateway.pace,
    submit: (request) => timed('submit', () => gateway.submit(request)),
    query: (request) => timed('query', () => gateway.query(request)),
    askReceipt: askReceipt && ((question) => timed('receipt', () => askReceipt(question))),
    statement:
      statement && ((start, end) => timed('statement', () => statement.call(gateway, start, end))),
    statementCovers: gateway.statementCovers,
    float: gateway.float,
    passwordEndsAt: gateway.passwordEndsAt,
    parseCallback: (body, origin) => gateway.parseCallback(body, origin),
  } satisfies { [Name in keyof Required<Gateway>]: Gateway[Name] };
}

function namesUnknownCode(answer: { outcome: string; unknownCode?: string | undefined }): boolean {
  return answer.unknownCode !== undefined;
}
