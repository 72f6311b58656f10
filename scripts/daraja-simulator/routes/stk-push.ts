import { behaviourOf } from '../behaviours.ts';
import { BAD_TOKEN, ERRORS, replyError } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { type Body, centsOf, textOf } from '../fields.ts';
import { stkCallback } from '../messages/stk-callback.ts';
import type { Product } from '../product.ts';
import { submit } from '../submission.ts';
import type { TransactionRequest } from '../transactions.ts';
import type { World } from '../world.ts';
import { STK_CALLER_FIELDS, stkCallerError } from './stk-password.ts';

const MIN_SHILLINGS = 1;
const MAX_SHILLINGS = 250_000;
const MAX_ACCOUNT_REFERENCE_LENGTH = 12;
const MAX_DESCRIPTION_LENGTH = 13;

/** Prompts a customer for a payment. Two requests are two payments, whatever they say. */
export const stkPush: Product = {
  path: '/mpesa/stkpush/v1/processrequest',
  badToken: BAD_TOKEN.stkPush,
  fields: [
    ...STK_CALLER_FIELDS,
    ['TransactionType', fields.oneOf('CustomerPayBillOnline', 'CustomerBuyGoodsOnline')],
    ['Amount', fields.amount(MIN_SHILLINGS, MAX_SHILLINGS)],
    ['PartyA', fields.phone],
    ['PartyB', fields.shortCode],
    ['PhoneNumber', fields.phone],
    ['CallBackURL', fields.url],
    ['AccountReference', fields.text(1, MAX_ACCOUNT_REFERENCE_LENGTH)],
    ['TransactionDesc', fields.optional(fields.text(1, MAX_DESCRIPTION_LENGTH))],
  ],
  async handle(world, body, res) {
    const problem = stkCallerError(world.app, body);
    if (problem) return replyError(res, world.ids, problem);
    if (world.quirks.hits('subscriberLocked')) {
      return replyError(res, world.ids, ERRORS.subscriberLocked);
    }
    const request = requestOf(world, body);
    const acknowledgement = {
      MerchantRequestID: request.originatorConversationId,
      CheckoutRequestID: request.checkoutRequestId,
      ResponseCode: '0',
      ResponseDescription: 'Success. Request accepted for processing',
      CustomerMessage: 'Success. Request accepted for processing',
    };
    // Daraja itself cannot tell a repeat. The address is all that two requests of a payment share.
    const repeatKey = `${request.phone} ${body.CallBackURL}`;
    await submit(world, res, { request, repeatKey, acknowledgement });
  },
};

function requestOf({ ids, posts }: World, body: Body): TransactionRequest {
  const phone = textOf(body.PhoneNumber);
  const shortCode = textOf(body.BusinessShortCode);
  const reference = ids.checkout(phone);
  return {
    kind: 'collection',
    shortCode,
    phone,
    amountCents: centsOf(body.Amount),
    originatorConversationId: ids.request(),
    conversationId: ids.conversation(),
    checkoutRequestId: reference,
    accountReference: textOf(body.AccountReference),
    original: null,
    behaviour: behaviourOf(phone, 'collection'),
    report: (transaction) =>
      posts.send(
        {
          url: textOf(body.CallBackURL),
          shortCode,
          reference,
          body: stkCallback(transaction, ids.turn()),
        },
        transaction.behaviour.callbacks,
      ),
  };
}
