import type { Response } from 'express';
import type { Outcome } from '../behaviours.ts';
import { BAD_TOKEN, type DarajaError, ERRORS, replyError } from '../error-bodies.ts';
import { text, textOf } from '../fields.ts';
import type { Product } from '../product.ts';
import { reply } from '../reply.ts';
import type { Transaction } from '../transactions.ts';
import type { World } from '../world.ts';
import { STK_CALLER_FIELDS, stkCallerError } from './stk-password.ts';

const MAX_ID_LENGTH = 100;
const UNDER_PROCESSING: Outcome = {
  code: 4999,
  description: 'The transaction is still under processing',
};
/** While a payment is open, the forms of "not yet" alternate. Null is the one without an error. */
const NOT_YET = [null, ERRORS.processing, ERRORS.processingWithoutWords] as const;

/** Asks about an STK push. The answer has no receipt, no amount and no phone. */
export const stkQuery: Product = {
  path: '/mpesa/stkpushquery/v1/query',
  badToken: BAD_TOKEN.stkPush,
  fields: [...STK_CALLER_FIELDS, ['CheckoutRequestID', text(1, MAX_ID_LENGTH)]],
  handle(world, body, res) {
    const problem = stkCallerError(world.app, body);
    if (problem) return replyError(res, world.ids, problem);
    const transaction = world.transactions.find(textOf(body.CheckoutRequestID));
    if (!transaction?.checkoutRequestId) return replyError(res, world.ids, ERRORS.noTransaction);
    answerAbout(world, transaction, res);
  },
};

function answerAbout(world: World, transaction: Transaction, res: Response): void {
  const { result } = transaction;
  const error = result ? afterTheEnd(world) : (NOT_YET[world.ids.turn() % NOT_YET.length] ?? null);
  const { code, description, queryDescription }: Outcome = result ?? UNDER_PROCESSING;
  if (error) replyError(res, world.ids, error);
  else reply(res, 200, answerOf(transaction, code, queryDescription ?? description));
}

/** The answer that a quirk puts in the place of the outcome. */
function afterTheEnd({ quirks, ids }: World): DarajaError | null {
  if (!quirks.hits('queryFlap')) return null;
  return NOT_YET[ids.turn() % NOT_YET.length] ?? ERRORS.noTransaction;
}

function answerOf(transaction: Transaction, code: number | string, description: string): object {
  return {
    ResponseCode: '0',
    ResponseDescription: 'The service request has been accepted successsfully',
    MerchantRequestID: transaction.originatorConversationId,
    CheckoutRequestID: transaction.checkoutRequestId,
    ResultCode: String(code),
    ResultDesc: description,
  };
}
