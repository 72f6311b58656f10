import { rateOf } from '../../domain/identity/authenticate.ts';
import { namedApp } from '../../domain/identity/choose-app.ts';
import type { PayoutCategory } from '../../domain/payments/kinds.ts';
import { createPayout } from '../../domain/payouts/create-payout.ts';
import { channelOfPayout } from '../../domain/payouts/payout-channel.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { listedPayout, payoutDetail, payoutRecord } from '../presenters.ts';
import { DEFAULT_NARRATION } from '../schemas/bodies.ts';
import { callbackUrlIn, gatewayFor } from './payment-initiation.ts';
import { answerWith, mountDetail, mountList } from './payment-reads.ts';

export function addPayoutRoutes(context: ApiContext): void {
  mount(context, endpoints.initiatePayout, async (call) =>
    answerWith(await initiate(context, call), payoutRecord),
  );
  mountList(context, endpoints.listPayouts, 'payout', payoutDetail);
  mountList(context, endpoints.listPayoutsDeprecated, 'payout', listedPayout);
  // Before the detail, whose path matches these two too.
  refuseOtherMethods(context.router, [endpoints.initiatePayout, endpoints.listPayoutsDeprecated]);
  mountDetail(context, endpoints.getPayout, 'payout', payoutDetail);
}

async function initiate(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall,
) {
  const callback_url = callbackUrlIn(config, body);
  const payto = String(body.payto);
  const channel = channelOfPayout(payto, body.channel as number | undefined);
  const app_code = await namedApp(database, caller, 'payouts', body.app_code as number);
  return createPayout(database, {
    ...gatewayFor(channels, 'payout', channel.code, body.amount),
    ...caller.asker,
    merchant_id: caller.merchant_id,
    app_code,
    payto,
    ref_no: String(body.ref_no),
    category: (body.category ?? 'other') as PayoutCategory,
    narration: String(body.narration || DEFAULT_NARRATION),
    callback_url,
    rate: rateOf(caller.ownPayoutFee, config.payoutFeeDefaults),
    deadline_ms: config.payoutDeadlinesMs[channel.type],
  });
}
