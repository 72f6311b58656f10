import express, { type RequestHandler, type Response, type Router } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { hearBalances } from '../../domain/gateway-accounts/balances.ts';
import { largestCharges } from '../../domain/gateway-accounts/tariffs.ts';
import {
  noteDropped,
  storeCallback,
  storeStrayCallback,
} from '../../domain/settlement/callback-store.ts';
import { retiredCallbackKey } from '../../domain/settlement/retired-callback-keys.ts';
import { isUnread, readCallbackToken, readFloatToken } from '../../gateways/callback-address.ts';
import { addressOf, logFieldsOf, networkOf } from '../../http/caller.ts';
import { strictRouter } from '../../http/http-server.ts';
import { atMost } from '../../http/refused-events.ts';
import { isInNetworks } from '../../process/networks.ts';
import type { Service } from '../../service/service.ts';
import { MINUTE_MS } from '../../time.ts';
import { patternOf } from '../endpoints/endpoints.ts';
import { textsIn } from '../middleware/mount.ts';
import { refuseOtherMethods } from '../middleware/requests.ts';

const PATH = '/gateway/callbacks/{gateway}/{token}';
const MAX_CALLBACK_BYTES = 64 * 1_024;
/** The limits for callbacks to wrong addresses that are kept: a stranger must not fill the disk. */
const MAX_STRAYS_A_MINUTE = 60;
/** One stranger leaves room for what others send: it may be a gateway whose key was lost. */
const MAX_STRAYS_OF_SOURCE_A_MINUTE = 15;
/** Addresses whose callbacks are dropped: so often it is noted, and of each once. */
const MAX_NOTES_A_MINUTE = 600;

/**
 * Serves the addresses to which gateways report outcomes. A callback is stored before it is
 * answered, because most gateways send it once. A job applies it later.
 */
export function gatewayCallbackRoutes(service: Service): Router {
  const { database, config, logger, meters } = service;
  const router = strictRouter();
  const keys = config.secretsKeys;
  const mayKeep = atMost(MAX_STRAYS_A_MINUTE, MINUTE_MS, MAX_STRAYS_OF_SOURCE_A_MINUTE);
  const mayNote = atMost(MAX_NOTES_A_MINUTE, MINUTE_MS);
  const sources = config.gatewayCallbackSources;
  const isFromGateway = (ip?: string) => sources === undefined || isInNetworks(ip, sources);

  const refuse = async (
    gateway: string,
    body: string,
    problem: 'wrong token' | 'wrong source',
    res: Response,
  ): Promise<never> => {
    logger.warn(`callback with a ${problem}`, { ...logFieldsOf(res), ip: res.req.ip });
    if (mayKeep(networkOf(res.req.ip ?? null)))
      await storeStrayCallback(database, gateway, body, problem);
    throw new Refusal('path_not_found');
  };
  const anyBytes = express.raw({ type: () => true, limit: MAX_CALLBACK_BYTES });

  router.post(patternOf(PATH), asItCame, anyBytes, async (req, res) => {
    const { gateway = '', token = '' } = textsIn(req.params);
    const body = Buffer.isBuffer(req.body) ? req.body.toString('utf8') : '';
    if (!isFromGateway(req.ip)) return refuse(gateway, body, 'wrong source', res);
    const { status, body: answer } = service.callbackAnswerFor(gateway);
    const isOfNoPayment = isUnread(token) || (await heardOfFloat(service, gateway, token, body));
    if (isOfNoPayment) return void res.status(status).json(answer);
    const target = await readCallbackToken(keys, gateway, token, (id) =>
      retiredCallbackKey(database, keys, id),
    );
    if (!target) return refuse(gateway, body, 'wrong token', res);
    Object.assign(logFieldsOf(res), { payment_id: target.id, merchant_id: target.merchant_id });
    if (await storeCallback(database, gateway, target, body)) {
      service.bell.ring('outbox');
      meters.gatewayCallbacks.inc({ gateway });
    } else {
      meters.gatewayCallbacksDropped.inc({ gateway });
      const isFirst =
        mayNote(token) && (await noteDropped(database, gateway, target, addressOf(req)));
      if (isFirst) logger.warn('callbacks of a payment are dropped today', logFieldsOf(res));
    }
    res.status(status).json(answer);
  });
  refuseOtherMethods(router, [{ method: 'post', path: PATH }]);

  return router;
}

/** Takes what a gateway says of an account. It is asked again soon, so what is unreadable may go. */
async function heardOfFloat(
  { database, config, logger, gateways }: Service,
  gateway: string,
  token: string,
  body: string,
): Promise<boolean> {
  const asked = readFloatToken(config.secretsKeys, gateway, token);
  if (asked === null) return false;
  const told = asked.use === 'float' ? gateways.get(gateway)?.float?.read(body) : null;
  if (!told) logger.warn('the gateway did not say what the float is', { gateway });
  else
    await hearBalances(
      database,
      gateway,
      told,
      asked.askedAt,
      largestCharges(config.gatewayCharges ?? [], gateway),
    );
  return true;
}

const KNOWN_ENCODINGS = /^(gzip|deflate|br|identity)$/i;

/** Keeps a callback in an unknown encoding as it is, because it may be the only one. */
const asItCame: RequestHandler = (req, _res, next) => {
  const encoding = req.headers['content-encoding'];
  if (encoding && !KNOWN_ENCODINGS.test(encoding)) delete req.headers['content-encoding'];
  next();
};
