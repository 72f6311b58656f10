import { startSimulator } from '../../scripts/simulator/server.ts';
import { createSimulatorGateway } from '../../src/gateways/simulator/driver.ts';
import { describeGatewayConformance } from '../support/gateway-conformance.ts';
import { everyKind } from '../support/gateway-stage.ts';

describeGatewayConformance('simulator', {
  resubmit: { collection: 'safe', payout: 'safe', reversal: 'safe', return: 'safe' },
  repeats: 'as before',
  makeGateway: (baseUrl, timeoutMs) =>
    createSimulatorGateway({ baseUrl, timeoutMs, settlingWindowMs: 2_000 }),
  async startSimulator() {
    const simulator = await startSimulator({ port: 0, delayMs: 40, log: () => {} });
    return {
      ...simulator,
      async receiptsOf({ reference }) {
        const response = await fetch(`${simulator.url}/statement?reference=${reference}`);
        const movements = (await response.json()) as { trans_id: string }[];
        return movements.map(({ trans_id }) => trans_id);
      },
    };
  },
  parts: {
    succeeds: everyKind('000'),
    declined: { collection: '001', payout: '001', reversal: '109', return: '109' },
    fails: { collection: '032', payout: '032' },
    staysOpen: { collection: '108', payout: '108' },
    answerLost: everyKind('104'),
    requestLost: { collection: '105', payout: '105' },
    callbackLost: everyKind('101'),
    callbackTwice: everyKind('102'),
    callbackEarly: everyKind('103'),
    failsThenSucceeds: { collection: '107', payout: '107' },
    anotherAmount: { collection: '111', payout: '111' },
  },
});
