import express, { type RequestHandler } from 'express';
import { Refusal } from '../../domain/errors.ts';

const MAX_BODY_BYTES = 64 * 1_024;

const parse = express.json({ limit: MAX_BODY_BYTES, strict: false });

/**
 * Reads a JSON object from the body. Comes after the token where there is one: strangers'
 * bodies are not parsed.
 */
export const jsonBody: RequestHandler = (req, res, next) => {
  const length = Number(req.get('content-length') ?? 0);
  const hasBody = length > 0 || req.headers['transfer-encoding'] !== undefined;
  const type = req.get('content-type');
  if (type ? !/^application\/json\s*(;|$)/i.test(type) : hasBody) {
    throw new Refusal('media_type_unsupported');
  }
  parse(req, res, (error?: unknown) => {
    if (error) return next(error);
    const isObject = typeof req.body === 'object' && req.body !== null && !Array.isArray(req.body);
    next(isObject ? undefined : new Refusal('invalid_request'));
  });
};
