import { type ParsedUrlQuery, parse } from 'node:querystring';
import { promisify } from 'node:util';
import express, { type Request, type Response } from 'express';
import { Refusal } from '../../domain/errors.ts';

const MAX_BODY_BYTES = 64 * 1_024;

const readBytes = promisify(express.raw({ limit: MAX_BODY_BYTES, type: () => true }));

/**
 * Reads the body as JSON in UTF-8. Runs after authentication, so that bodies of strangers are not
 * read.
 * @throws Refusal `media_type_unsupported`, `body_not_json`, `invalid_request` (no body)
 */
export async function readJson(req: Request, res: Response): Promise<unknown> {
  refuseOtherTypes(req);
  await readBytes(req, res);
  if (!Buffer.isBuffer(req.body) || req.body.length === 0) throw new Refusal('invalid_request');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(req.body));
  } catch {
    throw new Refusal('body_not_json');
  }
}

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

function refuseOtherTypes(req: Request): void {
  const type = req.get('content-type');
  const length = Number(req.get('content-length') ?? 0);
  const hasBody = length > 0 || req.headers['transfer-encoding'] !== undefined;
  if (type === undefined ? hasBody : !JSON_TYPE.test(type)) {
    throw new Refusal('media_type_unsupported');
  }
}

const MAX_PARAMETERS = 1_000;
const NO_LIMIT = 0;

/**
 * Reads the query of an address. Node's own limit would silently drop a filter that comes after it.
 * @throws Refusal `invalid_request` for more parameters than we take
 */
export function parseQueryText(text: string | null): ParsedUrlQuery {
  if (text === null) return {};
  if (text.split('&').length > MAX_PARAMETERS) throw new Refusal('invalid_request');
  return parse(text, '&', '=', { maxKeys: NO_LIMIT });
}
