import { inOneTransaction } from '../../connections/database.ts';
import { CHANNELS, type Channel } from '../../domain/channels/channel.ts';
import { pausedChannels } from '../../domain/channels/channel-store.ts';
import { Refusal } from '../../domain/errors.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { listTransactions, walletBalances } from '../../domain/wallets/list-transactions.ts';
import { transfer } from '../../domain/wallets/transfer.ts';
import { channel, channelState, walletTransaction } from '../../records/wallets.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { envelopeOf, pageRequestOf, transactionFilterIn } from '../lists.ts';
import { mount } from '../middleware/mount.ts';

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
    const body = envelopeOf(
      config,
      endpoints.listTransactions,
      query,
      page,
      walletTransaction.present,
    );
    return { body };
  });

  mount(context, endpoints.createTransfer, async ({ caller, body, database: target }) => {
    const request = {
      ...caller.asker,
      merchant_id: caller.merchant_id,
      amount_cents: parseAmount(body.amount)!,
      ref_no: body.ref_no,
    };
    const transaction = await inOneTransaction(target, (trx) => transfer(trx, request));
    return { body: walletTransaction.present(transaction) };
  });
}

export function addChannelRoutes(context: ApiContext): void {
  const { database, config, channels } = context;
  mount(context, endpoints.listChannels, async ({ query }) => {
    const paused = await pausedChannels(database);
    const noCollections = await pausedChannels(database, 'collection');
    const present = (row: Channel) => {
      const isPaused = { collection: noCollections.has(row.code), payout: paused.has(row.code) };
      return channel.present(channelState(row, channels.get(row.code), isPaused));
    };
    const { page, pageSize } = pageRequestOf(query);
    const end = page * pageSize;
    const found = {
      count: CHANNELS.length,
      rows: CHANNELS.slice(end - pageSize, end),
      next: end < CHANNELS.length ? ('plain' as const) : null,
    };
    return { body: envelopeOf(config, endpoints.listChannels, query, found, present) };
  });
}
