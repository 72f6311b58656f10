import { inOneTransaction } from '../../connections/database.ts';
import { Refusal } from '../../domain/errors.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { listTransactions } from '../../domain/wallets/list-transactions.ts';
import { transfer } from '../../domain/wallets/transfer.ts';
import { walletBalances } from '../../domain/wallets/wallet.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { transactionFilterIn } from '../filters.ts';
import { mount } from '../middleware/mount.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';
import { walletTransaction } from '../presenters.ts';

export function addWalletRoutes(context: ApiContext): void {
  const { database, config } = context;

  mount(context, endpoints.getBalance, async ({ caller }) => {
    const { collection, payout } = await walletBalances(database, caller.merchant_id);
    if (collection === undefined || payout === undefined) throw new Refusal('wallet_missing');
    return {
      body: {
        payout_wallet_balance: formatAmount(payout),
        collection_wallet_balance: formatAmount(collection),
        currency: 'KES',
      },
    };
  });

  mount(context, endpoints.listTransactions, async ({ caller, query }) => {
    const filter = transactionFilterIn(query);
    const page = await listTransactions(database, caller.merchant_id, filter, pageRequestOf(query));
    const body = envelopeOf(config, endpoints.listTransactions, query, page, walletTransaction);
    return { body };
  });

  mount(context, endpoints.createTransfer, async ({ caller, body, database: target }) => {
    const request = {
      ...caller.asker,
      merchant_id: caller.merchant_id,
      amount_cents: parseAmount(body.amount)!,
      ref_no: String(body.ref_no),
    };
    const transaction = await inOneTransaction(target, (trx) => transfer(trx, request));
    return { body: walletTransaction(transaction) };
  });
}
