import { type Outcome, SUCCESS } from '../../scripts/daraja-simulator/behaviours.ts';
import type { Transaction } from '../../scripts/daraja-simulator/transactions.ts';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import type { Known } from './gateway-world.ts';

/** What Daraja calls a failure of each kind. */
const FAILURES: Readonly<Record<AnyPayment['kind'], Outcome>> = {
  collection: { code: 1037, description: 'No response from user.' },
  payout: { code: 2040, description: 'Credit Party customer type cannot be supported.' },
  reversal: { code: 'R000002', description: 'The OriginalTransactionID is invalid.' },
  return: { code: 'R000002', description: 'The OriginalTransactionID is invalid.' },
};

/**
 * Writes what a world knows of a payment as a transaction of the simulator, whose messages then
 * say it. The newest word counts, as in the world.
 */
export function transactionOf(payment: AnyPayment, { externalRef, newest }: Known): Transaction {
  const { kind, reference } = payment;
  const success = newest?.outcome === 'succeeded' ? newest : null;
  const status = success ? 'succeeded' : newest ? 'failed' : 'open';
  return {
    ...{ kind: kind === 'return' ? 'reversal' : kind, status, shortCode: '174379' },
    phone: accountOf(payment).slice(1),
    amountCents: success?.amountCents ?? payment.amount_cents,
    originatorConversationId: kind === 'payout' ? reference : externalRef,
    conversationId: kind === 'payout' ? externalRef : 'AG_R',
    checkoutRequestId: kind === 'collection' ? externalRef : null,
    result: success ? SUCCESS : newest ? FAILURES[kind] : null,
    receipt: success?.transId ?? null,
    startedAt: payment.created_at,
    completedAt: success?.completedAt ?? null,
    original: { receipt: 'ORIGINAL' } as Transaction,
    ...{ accountReference: null, isReversed: false },
    behaviour: undefined as never,
    report: () => Promise.reject(new Error('It is told by the history')),
  };
}
