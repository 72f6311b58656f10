import type { Outcome } from '../behaviours.ts';
import { type Floats, formatShillings, wholeShillings } from '../money.ts';
import { compactTime, dottedTime } from '../nairobi-time.ts';
import type { Transaction } from '../transactions.ts';
import { GENERIC_RECEIPT, type Parameters, resultBody } from './result.ts';

/** The outcome in a post about a queue timeout. Only the post's address tells that it is one. */
const QUEUE_TIMEOUT: Outcome = { code: 17, description: 'System internal error.' };

/** Writes the result of a payout or reversal, or the post that says that it waited too long. */
export function transactionResult(
  transaction: Transaction,
  floats: Floats,
  turn: number,
  address: 'result' | 'timeout',
): object {
  const { status, kind, receipt, originatorConversationId, conversationId } = transaction;
  const hasMoved = status === 'succeeded';
  const parametersOf = kind === 'payout' ? payoutParameters : reversalParameters;
  return resultBody(
    {
      originatorConversationId,
      conversationId,
      transactionId: receipt ?? GENERIC_RECEIPT,
      outcome: address === 'timeout' ? QUEUE_TIMEOUT : transaction.result!,
      parameters: hasMoved ? parametersOf(transaction, floats) : failureParameters(turn),
    },
    turn,
  );
}

function payoutParameters(transaction: Transaction, floats: Floats): Parameters {
  const { amountCents, receipt, phone, completedAt, shortCode } = transaction;
  return [
    ['TransactionAmount', wholeShillings(amountCents)],
    ['TransactionReceipt', receipt!],
    ['ReceiverPartyPublicName', `${phone} - JANE WANJIKU`],
    ['TransactionCompletedDateTime', dottedTime(completedAt!)],
    ['B2CUtilityAccountAvailableFunds', formatShillings(floats.balanceOf(shortCode))],
    ['B2CWorkingAccountAvailableFunds', '0.00'],
    ['B2CRecipientIsRegisteredCustomer', 'Y'],
    ['B2CChargesPaidAccountAvailableFunds', '-100.00'],
  ];
}

function reversalParameters(transaction: Transaction, floats: Floats): Parameters {
  const { amountCents, phone, completedAt, original, shortCode } = transaction;
  const balance = formatShillings(floats.balanceOf(shortCode));
  return [
    ['DebitAccountBalance', `Utility Account|KES|${balance}|${balance}|0.00|0.00`],
    ['Amount', wholeShillings(amountCents)],
    ['TransCompletedTime', compactTime(completedAt!)],
    ['OriginalTransactionID', original!.receipt!],
    ['Charge', 0],
    ['CreditPartyPublicName', `${phone} - JANE WANJIKU`],
    ['DebitPartyPublicName', `${shortCode} - Simulated Organisation`],
  ];
}

/** A failure has one parameter or none. */
function failureParameters(turn: number): Parameters {
  return turn % 2 === 0 ? [] : [['BOCompletedTime', Number(compactTime(new Date()))]];
}
