import type { Response } from 'express';
import { ERRORS, replyError } from './error-bodies.ts';
import { reply } from './reply.ts';
import type { TransactionRequest } from './transactions.ts';
import type { World } from './world.ts';

export interface Submission {
  request: TransactionRequest;
  /** Tells the repeats of one payment from other payments. */
  repeatKey: string;
  acknowledgement: object;
}

/** Takes a request, or plays that it did not arrive. Answers as the customer's part prescribes. */
export async function submit(world: World, res: Response, submission: Submission): Promise<void> {
  const { request, acknowledgement } = submission;
  const { notTaken, answer } = request.behaviour;
  if (leavesUntaken(world, submission)) {
    if (notTaken.answer === 'none') res.destroy();
    else replyError(res, world.ids, ERRORS.spikeArrest);
    return;
  }
  const transaction = world.transactions.take(request);
  if (answer === 'after the callback') await world.transactions.succeed(transaction);
  if (answer === 'lost') res.destroy();
  else reply(res, 200, acknowledgement);
}

function leavesUntaken({ notTaken }: World, { repeatKey, request }: Submission): boolean {
  const count = notTaken.get(repeatKey) ?? 0;
  if (count >= request.behaviour.notTaken.requests) return false;
  notTaken.set(repeatKey, count + 1);
  return true;
}
