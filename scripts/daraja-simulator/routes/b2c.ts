import { behaviourOf } from '../behaviours.ts';
import { BAD_TOKEN, ERRORS, replyError } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { type Body, centsOf, INITIATOR_FIELDS, textOf } from '../fields.ts';
import type { Product } from '../product.ts';
import { submit } from '../submission.ts';
import type { TransactionRequest } from '../transactions.ts';
import type { World } from '../world.ts';
import { acknowledgementOf, reportTo } from './initiator-requests.ts';

const MIN_SHILLINGS = 10;
const MAX_SHILLINGS = 250_000;
/** The sources name limits from 20 to 128 characters. A UUID must go through. */
const MAX_ID_LENGTH = 128;

/** Pays a customer. Each OriginatorConversationID is taken once. */
export const b2c: Product = {
  path: '/mpesa/b2c/v3/paymentrequest',
  badToken: BAD_TOKEN.b2c,
  fields: [
    ['OriginatorConversationID', fields.text(1, MAX_ID_LENGTH)],
    ['InitiatorName', fields.text(1, MAX_ID_LENGTH)],
    INITIATOR_FIELDS.credential,
    ['CommandID', fields.oneOf('BusinessPayment', 'SalaryPayment', 'PromotionPayment')],
    ['Amount', fields.amount(MIN_SHILLINGS, MAX_SHILLINGS)],
    ['PartyA', fields.shortCode],
    ['PartyB', fields.phone],
    INITIATOR_FIELDS.remarks,
    INITIATOR_FIELDS.timeoutUrl,
    INITIATOR_FIELDS.resultUrl,
    // Spelled so on the wire.
    ['Occassion', fields.occasion],
  ],
  async handle(world, body, res) {
    const request = requestOf(world, body);
    const repeatKey = request.originatorConversationId;
    if (world.transactions.find(repeatKey)) return replyError(res, world.ids, ERRORS.duplicate);
    await submit(world, res, { request, repeatKey, acknowledgement: acknowledgementOf(request) });
  },
};

function requestOf(world: World, body: Body): TransactionRequest {
  const phone = textOf(body.PartyB);
  return {
    kind: 'payout',
    shortCode: textOf(body.PartyA),
    phone,
    amountCents: centsOf(body.Amount),
    originatorConversationId: textOf(body.OriginatorConversationID),
    conversationId: world.ids.conversation(),
    checkoutRequestId: null,
    accountReference: null,
    original: null,
    behaviour: behaviourOf(phone, 'payout'),
    report: reportTo(world, body),
  };
}
