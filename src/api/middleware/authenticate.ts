import type { RequestHandler, Response } from 'express';
import type { Service } from '../../boot.ts';
import { Refusal } from '../../domain/errors.ts';
import { authenticate, type Caller, requireProduct } from '../../domain/merchants/access.ts';
import type { Product } from '../../domain/merchants/merchant.ts';
import { addLogContext } from '../../logger.ts';

/** Accepts a request only with a valid access token, and remembers whose it is. */
export function requireCaller({ database, config }: Service): RequestHandler {
  return async (req, res, next) => {
    const caller = await authenticate(
      database,
      config.jwtKeys,
      bearerToken(req.get('authorization')),
    );
    addLogContext({ merchant_id: caller.merchantId });
    res.locals.caller = caller;
    next();
  };
}

function bearerToken(header: string | undefined): string {
  if (!header) throw new Refusal('credentials_missing');
  const [, token] = /^Bearer ([^\s]+)$/i.exec(header) ?? [];
  if (!token) throw new Refusal('token_format');
  return token;
}

/** Whose request this is; only after `requireCaller`. */
export function callerOf(res: Response): Caller {
  return res.locals.caller as Caller;
}

/** Lets only approved merchants pass, whose app has the product. Reads need neither. */
export function requireEnabled(product: Product, operation: string): RequestHandler {
  return (_req, res, next) => {
    requireProduct(callerOf(res), product, operation);
    next();
  };
}
