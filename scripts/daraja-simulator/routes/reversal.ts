import { behaviourOf } from '../behaviours.ts';
import { BAD_TOKEN } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { type Body, centsOf, INITIATOR_FIELDS, textOf } from '../fields.ts';
import type { Product } from '../product.ts';
import { submit } from '../submission.ts';
import type { TransactionRequest } from '../transactions.ts';
import type { World } from '../world.ts';
import { acknowledgementOf, reportTo } from './initiator-requests.ts';

const MAX_NAME_LENGTH = 128;
const MAX_SHILLINGS = 999_999_999;

/** Gives a collection back. The caller has no identifier of its own for it. */
export const reversal: Product = {
  path: '/mpesa/reversal/v1/request',
  badToken: BAD_TOKEN.reversal,
  fields: [
    ['Initiator', fields.text(1, MAX_NAME_LENGTH)],
    INITIATOR_FIELDS.credential,
    ['CommandID', fields.oneOf('TransactionReversal')],
    ['TransactionID', fields.text(1, MAX_NAME_LENGTH)],
    ['Amount', fields.amount(1, MAX_SHILLINGS)],
    ['ReceiverParty', fields.shortCode],
    // Spelled so on the wire.
    ['RecieverIdentifierType', fields.oneOf('11')],
    INITIATOR_FIELDS.resultUrl,
    INITIATOR_FIELDS.timeoutUrl,
    INITIATOR_FIELDS.remarks,
    ['Occasion', fields.occasion],
  ],
  async handle(world, body, res) {
    const request = requestOf(world, body);
    const repeatKey = `reversal ${body.TransactionID}`;
    await submit(world, res, { request, repeatKey, acknowledgement: acknowledgementOf(request) });
  },
};

function requestOf(world: World, body: Body): TransactionRequest {
  const original = world.transactions.find(textOf(body.TransactionID));
  const isReceipt = original?.receipt === body.TransactionID;
  const phone = isReceipt ? original!.phone : '';
  return {
    kind: 'reversal',
    shortCode: textOf(body.ReceiverParty),
    phone,
    amountCents: centsOf(body.Amount),
    originatorConversationId: world.ids.request(),
    conversationId: world.ids.conversation(),
    checkoutRequestId: null,
    accountReference: null,
    original: isReceipt ? original! : null,
    behaviour: behaviourOf(phone, 'reversal'),
    report: reportTo(world, body),
  };
}
