import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import type { LogFields, Logger } from '../process/logger.ts';

/**
 * Returns the caller's IP address, as the trusted proxies report it, or null when the connection is
 * gone. An IPv4 address in IPv6 form is returned as IPv4.
 */
export function addressOf(req: Request): string | null {
  const address = (req.ip ?? '').replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return null;
  return version === 6 ? withoutMapping(address) : address;
}

/** The URL parser reads every form of an IPv6 address, and always writes the same one. */
function withoutMapping(address: string): string {
  const { hostname } = new URL(`http://[${address}]/`);
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (!high || !low) return address;
  const halves = [high, low].map((half) => Number.parseInt(half, 16));
  return halves.flatMap((half) => [half >> 8, half & 0xff]).join('.');
}

/** Returns the part of an address that belongs to one caller: of IPv6, the network of 64 bits. */
export function networkOf(ip: string | null): string {
  if (ip === null || isIP(ip) !== 6) return String(ip);
  const [head = '', tail] = ip.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(tail ? tail.split(':') : [])];
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/** A caller's own id is used if it is short and plain, so that it cannot forge log lines. */
const PLAIN_ID = /^[\w.-]{1,64}$/;

/** Load balancers ask for these every few seconds. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function isProbe(req: Request): boolean {
  return PROBES.has(pathOf(req));
}

function pathOf({ originalUrl }: Request): string {
  return originalUrl.split('?')[0]!;
}

/** Returns the route of a request as the endpoints write it: with braces, without the base path. Null: it has none. */
export function routeOf({ route }: Request): string | null {
  return route ? String(route.path).replace(/:(\w+)/g, '{$1}') : null;
}

/**
 * Gives every request an id. It is in the header `X-Request-Id` and in all log lines of the
 * request. Writes one line when the request is answered, of level debug for a probe that is content.
 */
export function requestContext(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id') ?? '';
    const requestId = PLAIN_ID.test(given) ? given : randomUUID();
    const startedAt = performance.now();
    res.set('X-Request-Id', requestId);
    res.locals.logFields = { request_id: requestId } satisfies LogFields;
    res.once('close', () => {
      const isContentProbe = isProbe(req) && res.statusCode === 200;
      logger.log(isContentProbe ? 'debug' : 'info', 'request', {
        ...logFieldsOf(res),
        method: req.method,
        path: pathOf(req),
        status: res.statusCode,
        // The caller was gone before the answer was sent.
        ...(res.writableFinished ? {} : { aborted: true }),
        duration_ms: Math.round(performance.now() - startedAt),
      });
    });
    next();
  };
}

/** Returns the fields of every log line of a request. A handler that learns more adds to them. */
export function logFieldsOf(res: Response): LogFields {
  return res.locals.logFields;
}
