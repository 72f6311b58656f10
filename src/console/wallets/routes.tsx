import { latestTransactions } from '../../domain/wallets/list-transactions.ts';
import { walletBalances } from '../../domain/wallets/wallet.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { MERCHANT } from '../merchants/merchant.ts';
import { listPage } from '../shell/list-page.tsx';
import type { Answer, Visit } from '../visit.ts';
import { WalletsPage } from './view.tsx';

/** Microseconds and the id of a transaction. */
const PLACE = /^(\d{1,16})_([0-9a-f-]{36})$/;

/** The wallets of a merchant, with their transactions. */
export const walletHandlers = {
  wallets: async (visit: Visit): Promise<Answer> => {
    const { database } = visit.service;
    const merchant = await MERCHANT.find(visit);
    const { id: merchant_id } = merchant;
    const after = placeIn(visit.query);
    const balances = await walletBalances(database, merchant_id);
    const page = await listPage(
      (limit) => latestTransactions(database, merchant_id, { after, limit }),
      ({ created_us, transaction_id }) => `${created_us}_${transaction_id}`,
    );
    await recordView(visit, {
      ...{ action: 'wallet.show', merchant_id, subject: `wallets of merchant ${merchant_id}` },
      lookedFor: { merchant_id },
      rows: page.rows.length,
    });
    const shown = <WalletsPage {...{ visit, merchant, balances, page }} />;
    return { page: shown, title: `Wallets of ${merchant.name}` };
  },
};

function placeIn({ after }: Visit['query']) {
  if (!after) return undefined;
  const [, createdUs, id] = PLACE.exec(after) ?? [];
  if (createdUs === undefined || id === undefined) {
    throw new ConsoleError(404, 'There is no such page');
  }
  return { createdUs: Number(createdUs), id };
}
