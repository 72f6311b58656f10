import { Router } from 'express';
import type { Service } from '../../boot.ts';
import { parseCollectionRequest } from '../../domain/collections/collection.ts';
import { createCollection } from '../../domain/collections/create-collection.ts';
import { Refusal } from '../../domain/errors.ts';
import { rateOf } from '../../domain/merchants/access.ts';
import { findPayment } from '../../domain/payments/payment-store.ts';
import { addLogContext } from '../../logger.ts';
import { callerOf, requireCaller, requireEnabled } from '../middleware/authenticate.ts';
import { jsonBody } from '../middleware/json-body.ts';
import { collectionDetail, collectionRecord } from '../presenters/collection.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function collectionRoutes(service: Service): Router {
  const { database, config, channels } = service;
  const router = Router();
  const authenticated = requireCaller(service);

  router.post(
    '/collections/checkouts/initiate',
    authenticated,
    requireEnabled('collections', 'collections'),
    jsonBody,
    async (req, res) => {
      const caller = callerOf(res);
      const request = parseCollectionRequest(req.body);
      const route = channels.get(request.channel);
      if (!route) throw new Refusal('channel_not_available', String(request.channel));
      if (request.amountCents % route.amountStepCents !== 0) throw new Refusal('invalid_amount');
      const collection = await createCollection(database, {
        ...request,
        merchantId: caller.merchantId,
        appCode: caller.appCode,
        gateway: route.gateway,
        rate: rateOf(caller, config.commissionDefaults),
        deadlineMs: config.collectionDeadlineMs,
      });
      addLogContext({ payment_id: collection.id });
      res.json(collectionRecord(collection));
    },
  );

  router.get('/collections/checkouts/:checkout_id', authenticated, async (req, res) => {
    const id = String(req.params.checkout_id);
    const { merchantId } = callerOf(res);
    const collection = UUID.test(id)
      ? await findPayment(database, { kind: 'collection', merchantId, id })
      : undefined;
    if (collection?.kind !== 'collection') throw new Refusal('transaction_not_found');
    addLogContext({ payment_id: collection.id });
    res.json(collectionDetail(collection));
  });

  return router;
}
