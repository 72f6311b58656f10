import { firstRow, type Transaction } from '../../connections/database.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import { isOpen } from '../payments/payment.ts';
import type { Reversal } from '../payments/reversal.ts';
import { transition } from '../payments/transition.ts';
import { reversedLines } from '../reversals/journals.ts';
import { createEvent } from '../webhooks/create-event.ts';
import type { Settling } from './apply-verdict.ts';
import { insertMovement, mismatchOf } from './movements.ts';

/**
 * A success after a failure still reverses the collection, unless another reversal has
 * taken its place: then the customer was paid twice, which support must settle. The
 * collection is locked, so none can begin meanwhile.
 */
export const REVERSAL_SETTLING: Settling<Reversal> = {
  problemOf: async (trx, reversal, news) => {
    if (!isOpen(reversal) && (await hasSuccessor(trx, reversal))) return 'second_reversal';
    return mismatchOf(reversal, news);
  },
  complete,
  fail: failReversal,
};

/** Whether another reversal of the same collection is open or done; none can begin meanwhile. */
async function hasSuccessor(trx: Transaction, reversal: Reversal): Promise<boolean> {
  const other = await firstRow(
    trx,
    `SELECT 1 FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :collection_id AND id <> :id
       AND status <> 'failed'`,
    {
      merchant_id: reversal.merchant_id,
      collection_id: reversal.collection_id,
      id: reversal.id,
    },
  );
  return other !== undefined;
}

async function complete(
  trx: Transaction,
  reversal: Reversal,
  news: Succeeded,
  cause: string,
): Promise<'completed'> {
  const completed = await transition(trx, reversal, {
    to: 'completed',
    set: successColumns(reversal, news),
    step: 'none',
    cause,
  });
  await insertMovement(trx, completed, news, 'settled');
  // The merchant hears of its end once; a late success does not change what it was told.
  if (isOpen(reversal)) await createEvent(trx, completed);
  const posted = await postJournal(trx, {
    merchant_id: completed.merchant_id,
    source_kind: 'reversal',
    source_id: completed.id,
    kind: 'completed',
    lines: reversedLines(completed),
  });
  if (!posted) throw new Error(`The journal of reversal ${completed.id} was posted before`);
  return 'completed';
}

/** Ends an open reversal; its collection may be reversed again. */
export async function failReversal(
  trx: Transaction,
  reversal: Reversal,
  news: Failed,
  cause: string,
): Promise<void> {
  const failed = await transition(trx, reversal, {
    to: 'failed',
    set: failureColumns(reversal, news),
    step: 'none',
    cause,
  });
  await createEvent(trx, failed);
}
