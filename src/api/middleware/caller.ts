import type { Request } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { authenticate, type Caller } from '../../domain/identity/authenticate.ts';
import { addLogContext } from '../../process/logger.ts';
import type { ApiContext } from '../context.ts';
import { addressOf } from './address.ts';

/** Authenticates the caller by the access token of the request. @throws Refusal */
export async function callerOfRequest(
  { database, config }: ApiContext,
  req: Request,
): Promise<Caller> {
  const token = bearerToken(req.get('authorization'));
  const caller = await authenticate(database, config.jwtKeys, token, addressOf(req));
  addLogContext({ merchant_id: caller.merchant_id });
  return caller;
}

function bearerToken(header: string | undefined): string {
  if (!header) throw new Refusal('credentials_missing');
  const [, token] = /^Bearer ([^\s]+)$/i.exec(header) ?? [];
  if (!token) throw new Refusal('token_format');
  return token;
}
