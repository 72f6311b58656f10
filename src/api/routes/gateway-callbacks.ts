import express, { type RequestHandler, Router } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { storeCallback, storeRejectedCallback } from '../../domain/settlement/callback-store.ts';
import { retiredCallbackKey } from '../../domain/settlement/retired-callback-keys.ts';
import { readCallbackToken } from '../../gateways/callback-address.ts';
import type { Service } from '../../process/boot.ts';
import { patternOf } from '../endpoints/endpoints.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { logFieldsOf } from '../middleware/request-context.ts';

const PATH = '/gateway/callbacks/{gateway}/{token}';
const MAX_CALLBACK_BYTES = 64 * 1_024;
/** The limit for stored callbacks with a wrong token: a stranger must not fill the disk. */
const MAX_REJECTED_PER_MINUTE = 60;
const MAX_REJECTED_CHARACTERS = 4_096;
const MINUTE_MS = 60_000;

/**
 * Serves the addresses to which gateways report outcomes. A callback is stored before it is
 * answered, because most gateways send it once. A job applies it later.
 */
export function gatewayCallbackRoutes({ database, config, logger, meters }: Service): Router {
  const router = Router();
  const keys = config.secretsKeys;
  const mayKeep = limiter(MAX_REJECTED_PER_MINUTE, MINUTE_MS);
  const anyBytes = express.raw({ type: () => true, limit: MAX_CALLBACK_BYTES });

  router.post(patternOf(PATH), asItCame, anyBytes, async (req, res) => {
    const gateway = String(req.params.gateway);
    const body = Buffer.isBuffer(req.body) ? req.body.toString('utf8') : '';
    const target = await readCallbackToken(keys, gateway, String(req.params.token), (id) =>
      retiredCallbackKey(database, keys, id),
    );
    if (!target) {
      logger.warn('callback with a wrong token', logFieldsOf(res));
      if (mayKeep()) {
        const kept = body.slice(0, MAX_REJECTED_CHARACTERS);
        await storeRejectedCallback(database, gateway, kept, 'wrong token');
      }
      throw new Refusal('path_not_found');
    }
    Object.assign(logFieldsOf(res), { payment_id: target.id, merchant_id: target.merchant_id });
    await storeCallback(database, gateway, target, body);
    meters.gatewayCallbacks.inc({ gateway });
    res.json({ ResultCode: 0, ResultDesc: 'Accepted' });
  });
  refuseOtherMethods(router, [{ method: 'post', path: PATH }]);

  return router;
}

const KNOWN_ENCODINGS = /^(gzip|deflate|br|identity)$/i;

/** Keeps a callback in an unknown encoding as it is, because it may be the only one. */
const asItCame: RequestHandler = (req, _res, next) => {
  const encoding = req.headers['content-encoding'];
  if (encoding && !KNOWN_ENCODINGS.test(encoding)) delete req.headers['content-encoding'];
  next();
};

/** Returns a function that returns true `limit` times in each period. */
function limiter(limit: number, periodMs: number): () => boolean {
  let periodStart = 0;
  let count = 0;
  return () => {
    if (Date.now() - periodStart >= periodMs) {
      periodStart = Date.now();
      count = 0;
    }
    count += 1;
    return count <= limit;
  };
}
