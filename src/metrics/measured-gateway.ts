import type { Gateway } from '../gateways/gateway.ts';
import type { Meters } from './meters.ts';

/** The result of a call that threw: a bug of the driver, and not a word of the gateway. */
const THREW = 'threw';

/** All parts of a driver, optional ones too: a new part does not compile without its line. */
type EveryPart = { [Name in keyof Required<Gateway>]: Gateway[Name] };

/** Returns the driver with its calls counted and timed. */
export function measuredGateway(gateway: Gateway, meter: Meters['gatewayCalls']): Gateway {
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
