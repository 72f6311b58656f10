import express, { type RequestHandler, type Response, type Router } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { storeFloat } from '../../domain/gateway-accounts/float-store.ts';
import { storeCallback, storeRejectedCallback } from '../../domain/settlement/callback-store.ts';
import { retiredCallbackKey } from '../../domain/settlement/retired-callback-keys.ts';
import { isUnread, readCallbackToken, readFloatToken } from '../../gateways/callback-address.ts';
import type { Service } from '../../process/boot.ts';
import { isInNetworks } from '../../process/networks.ts';
import { atMost } from '../at-most.ts';
import { patternOf } from '../endpoints/endpoints.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { logFieldsOf } from '../middleware/request-context.ts';
import { strictRouter } from '../strict-router.ts';

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
export function gatewayCallbackRoutes(service: Service): Router {
  const { database, config, logger, meters } = service;
  const router = strictRouter();
  const keys = config.secretsKeys;
  const mayKeep = atMost(MAX_REJECTED_PER_MINUTE, MINUTE_MS);
  const sources = config.gatewayCallbackSources;
  const isFromGateway = (ip?: string) => sources === undefined || isInNetworks(ip, sources);

  const refuse = async (
    gateway: string,
    body: string,
    problem: 'wrong token' | 'wrong source',
    res: Response,
  ): Promise<never> => {
    logger.warn(`callback with a ${problem}`, { ...logFieldsOf(res), ip: res.req.ip });
    if (mayKeep()) {
      const kept = body.slice(0, MAX_REJECTED_CHARACTERS);
      await storeRejectedCallback(database, gateway, kept, problem);
    }
    throw new Refusal('path_not_found');
  };
  const anyBytes = express.raw({ type: () => true, limit: MAX_CALLBACK_BYTES });

  router.post(patternOf(PATH), asItCame, anyBytes, async (req, res) => {
    const gateway = String(req.params.gateway);
    const body = Buffer.isBuffer(req.body) ? req.body.toString('utf8') : '';
    const token = String(req.params.token);
    if (!isFromGateway(req.ip)) return refuse(gateway, body, 'wrong source', res);
    if (isUnread(token)) return void res.json(ACCEPTED);
    if (await heardOfFloat(service, gateway, token, body)) return void res.json(ACCEPTED);
    const target = await readCallbackToken(keys, gateway, token, (id) =>
      retiredCallbackKey(database, keys, id),
    );
    if (!target) return refuse(gateway, body, 'wrong token', res);
    Object.assign(logFieldsOf(res), { payment_id: target.id, merchant_id: target.merchant_id });
    await storeCallback(database, gateway, target, body);
    meters.gatewayCallbacks.inc({ gateway });
    res.json(ACCEPTED);
  });
  refuseOtherMethods(router, [{ method: 'post', path: PATH }]);

  return router;
}

/** The answer that Safaricom expects. Others only look at the status. */
const ACCEPTED = { ResultCode: 0, ResultDesc: 'Accepted' };

/** Takes what a gateway says of an account. It is asked again soon, so what is unreadable may go. */
async function heardOfFloat(
  { database, config, logger, gateways }: Service,
  gateway: string,
  token: string,
  body: string,
): Promise<boolean> {
  const use = readFloatToken(config.secretsKeys, gateway, token);
  if (use === null) return false;
  const cents = use === 'float' ? (gateways.get(gateway)?.float?.read(body) ?? null) : null;
  if (cents === null) logger.warn('the gateway did not say what the float is', { gateway });
  else await storeFloat(database, gateway, cents);
  return true;
}

const KNOWN_ENCODINGS = /^(gzip|deflate|br|identity)$/i;

/** Keeps a callback in an unknown encoding as it is, because it may be the only one. */
const asItCame: RequestHandler = (req, _res, next) => {
  const encoding = req.headers['content-encoding'];
  if (encoding && !KNOWN_ENCODINGS.test(encoding)) delete req.headers['content-encoding'];
  next();
};
