import { formatAmount } from '../../domain/money.ts';
import type { WalletTransaction } from '../../domain/wallets/list-transactions.ts';

/** A movement of a wallet, as its merchant sees it. The direction replaces the amount's sign. */
export function walletTransaction(transaction: WalletTransaction) {
  return {
    id: transaction.transaction_id,
    wallet: transaction.account.slice('wallet:'.length),
    type: transaction.type,
    direction: transaction.amount_cents > 0 ? 'credit' : 'debit',
    amount: formatAmount(Math.abs(transaction.amount_cents)),
    balance_after: formatAmount(transaction.balance_after_cents),
    ref_no: transaction.ref_no,
    account: transaction.counterparty,
    trans_id: transaction.trans_id,
    description: transaction.description ?? '',
    created_at: transaction.created_at.toISOString(),
  };
}
