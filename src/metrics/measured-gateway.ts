import type { Gateway } from '../gateways/gateway.ts';
import type { Meters } from './meters.ts';

/** Returns the driver with its calls counted and timed. */
export function measuredGateway(gateway: Gateway, meter: Meters['gatewayCalls']): Gateway {
  const { statement } = gateway;
  const timed = async <Result extends { outcome: string }>(
    call: string,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const stop = meter.startTimer({ gateway: gateway.name, call });
    // Stays so when the call throws, which is a bug of the driver and not an answer.
    let result = 'threw';
    try {
      const answer = await work();
      result = answer.outcome;
      return answer;
    } finally {
      stop({ result });
    }
  };
  // Every part of a driver, optional ones too: a new part does not compile without its line.
  return {
    name: gateway.name,
    resubmit: gateway.resubmit,
    settlingWindowMs: gateway.settlingWindowMs,
    answerWindowMs: gateway.answerWindowMs,
    amountStepCents: gateway.amountStepCents,
    submit: (request) => timed('submit', () => gateway.submit(request)),
    query: (request) => timed('query', () => gateway.query(request)),
    statement:
      statement && ((start, end) => timed('statement', () => statement.call(gateway, start, end))),
    parseCallback: (body) => gateway.parseCallback(body),
  } satisfies { [Name in keyof Required<Gateway>]: Gateway[Name] };
}
