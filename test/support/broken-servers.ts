import type { IncomingMessage, ServerResponse } from 'node:http';

export type Misbehaviour = (res: ServerResponse, req: IncomingMessage) => void;

const TOO_LARGE_BYTES = 4 * 1024 * 1024;

/**
 * Ways in which a server can leave open whether it has processed a request that reached
 * it. No driver may read any of them as a definite word.
 */
export const MISBEHAVIOURS: Record<string, Misbehaviour> = {
  'resets the connection': (_res, req) => req.socket.resetAndDestroy(),
  'closes the connection': (_res, req) => void req.socket.end(),
  'does not speak HTTP': (_res, req) => void req.socket.end('what?\r\n\r\n'),
  'answers 500': status(500),
  'answers 502': status(502),
  'answers 503': status(503),
  'answers 504': status(504),
  'answers 503 with nothing': (res) => void res.writeHead(503).end(),
  'answers 403 with a page': (res) => void res.writeHead(403).end('<html>Access Denied</html>'),
  'answers 404 with a page': (res) => void res.writeHead(404).end('<html>Not Found</html>'),
  'answers 200 with a page': (res) => void res.writeHead(200).end('<html>Welcome</html>'),
  'answers 200 with nothing': (res) => void res.writeHead(200).end(),
  'answers 204': (res) => void res.writeHead(204).end(),
  'answers null': json('null'),
  'answers a list': json('[{"status":"accepted"}]'),
  'answers an empty object': json('{}'),
  'answers JSON that is cut': json('{"status":"accep'),
  'answers another protocol': json('{"status":"OK","ResponseCode":[],"external_ref":7}'),
  'redirects to itself': (res, req) => void res.writeHead(307, { location: req.url }).end(),
  'breaks off its answer': (res) => {
    res.writeHead(200, { 'content-length': 1000 });
    res.write('{"status":', () => res.destroy());
  },
  'answers megabytes': (res) => void res.writeHead(200).end(Buffer.alloc(TOO_LARGE_BYTES, ' ')),
};

/** The same for ways that end only with the caller's patience. */
export const HANGING: Record<string, Misbehaviour> = {
  'does not answer': () => {},
  'does not end its answer': (res) => void res.writeHead(200).write('{"status":'),
};

export function status(code: number): Misbehaviour {
  return (res) => void res.writeHead(code).end('{"detail":"out of order"}');
}

function json(text: string): Misbehaviour {
  return (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(text);
}
