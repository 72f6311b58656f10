import type { Gateway } from '../gateways/gateway.ts';
import type { Meters } from './meters.ts';

/** Returns the driver with its calls counted and timed. */
export function measuredGateway(
  gateway: Gateway,
  { gatewayCalls, unknownCodes }: Pick<Meters, 'gatewayCalls' | 'unknownCodes'>,
): Gateway {
  unknownCodes.inc({ gateway: gateway.name }, 0);
  const { statement } = gateway;
  const timed = async <Result extends { outcome: string }>(
    call: string,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const stop = gatewayCalls.startTimer({ gateway: gateway.name, call });
    // Stays so when the call throws, which is a bug of the driver and not an answer.
    let result = 'threw';
    try {
      const answer = await work();
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
