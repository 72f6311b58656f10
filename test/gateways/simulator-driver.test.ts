import { startSimulator } from '../../scripts/simulator/server.ts';
import { createSimulatorGateway } from '../../src/gateways/simulator-driver/simulator-gateway.ts';
import { describeGatewayConformance } from '../support/gateway-conformance.ts';

describeGatewayConformance('simulator', {
  resubmit: { collection: 'safe', payout: 'safe', reversal: 'safe', return: 'safe' },
  makeGateway: (baseUrl, timeoutMs) =>
    createSimulatorGateway({ baseUrl, timeoutMs, settlingWindowMs: 2_000 }),
  async startSimulator() {
    const simulator = await startSimulator({ port: 0, delayMs: 40, log: () => {} });
    const countMovements = async (reference: string) => {
      const response = await fetch(`${simulator.url}/statement?reference=${reference}`);
      return ((await response.json()) as unknown[]).length;
    };
    return { ...simulator, countMovements };
  },
  accounts: {
    succeeds: '+254700000000',
    declined: '+254700000001',
    fails: '+254700000032',
    staysOpen: '+254700000108',
    answerLost: '+254700000104',
  },
});
