import { Histogram, type Registry } from 'prom-client';
import type { Gateway } from '../gateways/gateway.ts';

const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
/** The result of a call that threw: a bug of the driver, and not a word of the gateway. */
const THREW = 'threw';

export function gatewayMeter(registry: Registry) {
  return new Histogram({
    name: 'malipo_gateway_call_duration_seconds',
    help: 'Calls to gateways, by driver, by what was called and by its result',
    labelNames: ['gateway', 'call', 'result'] as const,
    buckets: CALL_SECONDS,
    registers: [registry],
  });
}

export type GatewayMeter = ReturnType<typeof gatewayMeter>;

/** Every part of a driver, also those that it may leave out: a new one does not compile without its line. */
type EveryPart = { [Name in keyof Required<Gateway>]: Gateway[Name] };

/** The same driver, with its calls counted and timed. */
export function measuredGateway(gateway: Gateway, meter: GatewayMeter): Gateway {
  const { statement } = gateway;
  const timed = async <Result extends { outcome: string }>(
    call: string,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const stop = meter.startTimer({ gateway: gateway.name, call });
    let result = THREW;
    try {
      const answer = await work();
      result = answer.outcome;
      return answer;
    } finally {
      stop({ result });
    }
  };
  return {
    name: gateway.name,
    resubmit: gateway.resubmit,
    settlingWindowMs: gateway.settlingWindowMs,
    amountStepCents: gateway.amountStepCents,
    submit: (request) => timed('submit', () => gateway.submit(request)),
    query: (request) => timed('query', () => gateway.query(request)),
    statement:
      statement && ((start, end) => timed('statement', () => statement.call(gateway, start, end))),
    parseCallback: (body) => gateway.parseCallback(body),
  } satisfies EveryPart;
}
