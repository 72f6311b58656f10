import type { Request } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { authenticate, type Caller } from '../../domain/identity/authenticate.ts';
import { addressOf } from '../../http/caller-address.ts';
import { logFieldsOf } from '../../http/request-context.ts';
import type { LogFields } from '../../process/logger.ts';
import type { ApiContext } from '../context.ts';
import { limitRevoked } from './rate-limit.ts';

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
