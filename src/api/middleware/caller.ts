import { isIP } from 'node:net';
import type { Request } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { authenticate, type Caller } from '../../domain/identity/authenticate.ts';
import type { LogFields } from '../../process/logger.ts';
import type { ApiContext } from '../context.ts';
import { limitRevoked } from './rate-limit.ts';
import { logFieldsOf } from './request-context.ts';

/** Authenticates the caller by the access token of the request. @throws Refusal */
export async function callerOfRequest(context: ApiContext, req: Request): Promise<Caller> {
  const { database, config } = context;
  const header = req.get('authorization');
  if (!header) throw new Refusal('credentials_missing');
  const [, token] = /^Bearer ([^\s]+)$/i.exec(header) ?? [];
  if (!token) throw new Refusal('invalid_token_format');
  const caller = await limitRevoked(context, () =>
    authenticate(database, config.jwtKeys, token, addressOf(req)),
  );
  const { asked_family, asked_app, asked_user, asked_ip } = caller.asker;
  Object.assign(logFieldsOf(req.res!), {
    merchant_id: caller.merchant_id,
    family: asked_family,
    app: asked_app,
    user: asked_user,
    address: asked_ip,
  } satisfies LogFields);
  return caller;
}

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
