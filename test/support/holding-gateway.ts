import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Simulator } from '../../scripts/simulator/server.ts';

/** Stands before the simulator. It can hold back what the simulator says about payments. */
export interface HoldingGateway {
  url: string;
  /** The questions about payments since `hold`. */
  asked(): number;
  /** Holds back the answers. @returns what lets them go */
  hold(): () => void;
  close(): void;
}

export async function startHoldingGateway(simulator: Simulator): Promise<HoldingGateway> {
  let gate = Promise.resolve();
  let asked = 0;
  const server = createServer(async (req, res) => {
    if (req.url!.startsWith('/payments/')) {
      asked += 1;
      await gate;
    }
    const answer = await fetch(`${simulator.url}${req.url}`, { method: req.method! });
    res.writeHead(answer.status, { 'content-type': 'application/json' });
    res.end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    hold: () => {
      let letGo = () => {};
      gate = new Promise((resolve) => {
        letGo = resolve;
      });
      asked = 0;
      return letGo;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
