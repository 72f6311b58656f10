import type { RequestHandler, Response } from 'express';
import { type DarajaError, ERRORS, invalidField, replyError } from './error-bodies.ts';
import { type Body, type FieldChecks, wrongField } from './fields.ts';
import type { World } from './world.ts';

/** One of Daraja's endpoints that is called with a bearer token. */
export interface Product {
  path: string;
  /** The answer to a token that is not valid. */
  badToken: DarajaError;
  fields: FieldChecks;
  /** Gets a body whose fields are valid. */
  handle(world: World, body: Body, res: Response): void | Promise<void>;
}

/** Serves a product: checks the token, then the fields. */
export function productRoute(world: World, product: Product): RequestHandler {
  return (req, res) => {
    const problem =
      tokenError(world, product, req.headers.authorization) ?? fieldError(product, req.body);
    if (problem) return replyError(res, world.ids, problem);
    return product.handle(world, req.body, res);
  };
}

function tokenError(
  { tokens, quirks }: World,
  { badToken }: Product,
  authorization = '',
): DarajaError | null {
  const token = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (!token) return ERRORS.noBearer;
  if (quirks.hits('tokenExpired')) tokens.revoke(token);
  return tokens.isValid(token) ? null : badToken;
}

/** A body of another content type has no fields, so the first one is missed. */
function fieldError({ fields }: Product, body: unknown): DarajaError | null {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const wrong = wrongField(isObject ? (body as Body) : {}, fields);
  return wrong === null ? null : invalidField(wrong);
}
