import { wholeShillings } from '../money.ts';
import { compactTime } from '../nairobi-time.ts';
import type { Transaction } from '../transactions.ts';
import type { Parameters } from './result.ts';

const STATUSES = { open: 'Authorized', succeeded: 'Completed', failed: 'Declined' } as const;

const REASONS = {
  collection: 'Pay Bill Online',
  payout: 'Business Payment to Customer via API',
  reversal: 'Org Reversal via API',
} as const;

/** Writes what a question about a transaction is told. The fate is in `TransactionStatus`. */
export function statusParameters(transaction: Transaction): Parameters {
  const { kind, status, completedAt, startedAt, receipt, phone, shortCode } = transaction;
  const customer = `${phone} - JANE WANJIKU`;
  const organisation = `${shortCode} - Simulated Organisation`;
  const [debit, credit] =
    kind === 'collection' ? [customer, organisation] : [organisation, customer];
  return [
    ['DebitPartyName', debit],
    ['CreditPartyName', credit],
    ['OriginatorConversationID', transaction.originatorConversationId],
    ['ConversationID', transaction.conversationId],
    ['InitiatedTime', Number(compactTime(startedAt))],
    ['DebitAccountType', kind === 'collection' ? 'MMF Account For Customer' : 'Utility Account'],
    ['DebitPartyCharges', ''],
    ['TransactionReason', ''],
    ['ReasonType', REASONS[kind]],
    ['TransactionStatus', STATUSES[status]],
    ['Amount', wholeShillings(transaction.amountCents)],
    ...(receipt ? ([['ReceiptNo', receipt]] as const) : []),
    ...(completedAt ? ([['FinalisedTime', Number(compactTime(completedAt))]] as const) : []),
  ];
}
