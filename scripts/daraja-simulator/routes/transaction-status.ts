import { type Outcome, SUCCESS } from '../behaviours.ts';
import { BAD_TOKEN, invalidField, replyError } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { INITIATOR_FIELDS, textOf } from '../fields.ts';
import { GENERIC_RECEIPT } from '../messages/result.ts';
import { statusParameters } from '../messages/status-parameters.ts';
import type { Product } from '../product.ts';
import type { Transaction } from '../transactions.ts';
import { answerLater, type QuestionAnswer } from './initiator-requests.ts';

const MAX_ID_LENGTH = 128;
const NO_SUCH_TRANSACTION: Outcome = {
  code: 'R000002',
  description: 'The transaction does not exist.',
};

/** Asks about a transaction, by its receipt or by the OriginatorConversationID of its request. */
export const transactionStatus: Product = {
  path: '/mpesa/transactionstatus/v1/query',
  badToken: BAD_TOKEN.transactionStatus,
  fields: [
    ['Initiator', fields.text(1, MAX_ID_LENGTH)],
    INITIATOR_FIELDS.credential,
    ['CommandID', fields.oneOf('TransactionStatusQuery')],
    ['TransactionID', fields.optional(fields.text(1, MAX_ID_LENGTH))],
    ['OriginalConversationID', fields.optional(fields.text(1, MAX_ID_LENGTH))],
    ['PartyA', fields.shortCode],
    ['IdentifierType', fields.oneOf('1', '2', '4')],
    INITIATOR_FIELDS.resultUrl,
    INITIATOR_FIELDS.timeoutUrl,
    INITIATOR_FIELDS.remarks,
    ['Occasion', fields.occasion],
  ],
  handle(world, body, res) {
    const asked = textOf(body.TransactionID) || textOf(body.OriginalConversationID);
    if (!asked) return replyError(res, world.ids, invalidField('TransactionID'));
    answerLater(world, body, res, () => answerAbout(world.transactions.find(asked), asked));
  },
};

function answerAbout(transaction: Transaction | undefined, asked: string): QuestionAnswer {
  // Nobody has seen whether an STK push is found by its MerchantRequestID. Here it is not.
  if (!transaction || transaction.checkoutRequestId === asked) {
    return { outcome: NO_SUCH_TRANSACTION, transactionId: GENERIC_RECEIPT, parameters: [] };
  }
  const transactionId = transaction.receipt ?? GENERIC_RECEIPT;
  return { outcome: SUCCESS, transactionId, parameters: statusParameters(transaction) };
}
