import type { Response } from 'express';
import type { Outcome } from '../behaviours.ts';
import { type Body, textOf } from '../fields.ts';
import { type Parameters, resultBody } from '../messages/result.ts';
import { transactionResult } from '../messages/transaction-result.ts';
import { reply } from '../reply.ts';
import type { TransactionRequest } from '../transactions.ts';
import type { World } from '../world.ts';

/** The answer to a request that was taken. The result follows as a callback. */
export function acknowledgementOf(
  request: Pick<TransactionRequest, 'conversationId' | 'originatorConversationId'>,
): object {
  return {
    ConversationID: request.conversationId,
    OriginatorConversationID: request.originatorConversationId,
    ResponseCode: '0',
    ResponseDescription: 'Accept the service request successfully.',
  };
}

/** Posts the result of a payout or reversal to the addresses in its request. */
export function reportTo(
  { ids, posts, floats }: World,
  { ResultURL, QueueTimeOutURL }: Body,
): TransactionRequest['report'] {
  return (transaction, address) =>
    posts.send(
      {
        url: textOf(address === 'result' ? ResultURL : QueueTimeOutURL),
        shortCode: transaction.shortCode,
        reference: transaction.originatorConversationId,
        body: transactionResult(transaction, floats, ids.turn(), address),
      },
      address === 'result' ? transaction.behaviour.callbacks : 1,
    );
}

export interface QuestionAnswer {
  outcome: Outcome;
  transactionId: string;
  parameters: Parameters;
}

/** Takes a question, and posts the answer of that moment to its ResultURL one delay later. */
export function answerLater(
  world: World,
  body: Body,
  res: Response,
  answer: () => QuestionAnswer,
): void {
  const { ids, posts, transactions, delayMs } = world;
  const question = {
    originatorConversationId: ids.request(),
    conversationId: ids.conversation(),
  };
  transactions.after(delayMs, () =>
    posts.send({
      url: textOf(body.ResultURL),
      shortCode: textOf(body.PartyA),
      reference: question.originatorConversationId,
      body: resultBody({ ...question, ...answer() }, ids.turn()),
    }),
  );
  reply(res, 200, acknowledgementOf(question));
}
