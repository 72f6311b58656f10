import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  payload: {
    notification: { type: string; event: string };
    data: Record<string, unknown> & { ref_no: string };
  };
}

export interface FakeMerchant {
  url: string;
  received: Received[];
  webhooksFor(refNo: string): Received[];
  /** What it answers from now on: a status, or how to keep the caller waiting. */
  answerWith(answer: (received: Received) => number | Promise<number>): void;
  close(): Promise<void>;
}

/** A merchant's webhook receiver that remembers what came, in order. */
export async function startFakeMerchant(): Promise<FakeMerchant> {
  const received: Received[] = [];
  let answer: (received: Received) => number | Promise<number> = () => 200;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const webhook = { headers: request.headers, body, payload: JSON.parse(body) };
    received.push(webhook);
    response.statusCode = await answer(webhook);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    webhooksFor: (refNo) => received.filter(({ payload }) => payload.data.ref_no === refNo),
    answerWith: (next) => {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
