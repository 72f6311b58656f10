import { Router } from 'express';
import { rateOf } from '../../domain/identity/authenticate.ts';
import { namedApp } from '../../domain/identity/choose-app.ts';
import type { PayoutCategory } from '../../domain/payments/payout.ts';
import { createPayout } from '../../domain/payouts/create-payout.ts';
import { channelOfPayout } from '../../domain/payouts/payout-channel.ts';
import { addLogContext } from '../../process/logger.ts';
import { callbackUrlIn } from '../callback-url.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { listedPayout, payoutDetail, payoutRecord } from '../presenters/payout.ts';
import { DEFAULT_NARRATION } from '../schemas/inputs.ts';
import { carriedBy } from './carried-by.ts';
import { deprecatedListReader, detailReader, listReader } from './payment-reads.ts';

export function payoutRoutes(context: ApiContext): Router {
  const router = Router();

  mount(router, context, endpoints.initiatePayout, async (call) => {
    const payout = await initiate(context, call);
    addLogContext({ payment_id: payout.id });
    return { body: payoutRecord(payout) };
  });

  const list = endpoints.listPayouts;
  mount(router, context, list, listReader(context, 'payout', list, payoutDetail));

  const old = endpoints.listPayoutsDeprecated;
  mount(router, context, old, deprecatedListReader(context, 'payout', old, listedPayout));

  const detail = detailReader(context, 'payout', 'payout_id', payoutDetail);
  mount(router, context, endpoints.getPayout, detail);

  return router;
}

async function initiate(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall,
) {
  const callbackUrl = callbackUrlIn(config, body);
  const payto = String(body.payto);
  const channel = channelOfPayout(payto, body.channel as number | undefined);
  const appCode = await namedApp(database, caller, 'payouts', body.app_code as number);
  return createPayout(database, {
    ...carriedBy(channels, channel.code, body.amount),
    merchant_id: caller.merchant_id,
    app_code: appCode,
    payto,
    ref_no: String(body.ref_no),
    category: (body.category ?? 'other') as PayoutCategory,
    narration: String(body.narration || DEFAULT_NARRATION),
    callback_url: callbackUrl,
    rate: rateOf(caller.ownPayoutFee, config.payoutFeeDefaults),
    deadline_ms: config.payoutDeadlinesMs[channel.type],
  });
}
