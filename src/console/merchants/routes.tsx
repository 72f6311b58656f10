import { listUsers, requireUserById } from '../../domain/identity/manage-users.ts';
import { listApps } from '../../domain/merchants/manage-apps.ts';
import { listMerchants, type MerchantRecord } from '../../domain/merchants/manage-merchants.ts';
import { walletBalances } from '../../domain/wallets/wallet.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { pathTo } from '../routes.ts';
import { actionHandlers, namedIn } from '../shell/action.ts';
import { listPage } from '../shell/list-page.tsx';
import { idIn, numberIn } from '../shell/read-filter.ts';
import { found } from '../shell/read-path.ts';
import type { Answer, Visit } from '../visit.ts';
import { MERCHANT_ACTIONS } from './changes.tsx';
import { MerchantList } from './list.tsx';
import { MERCHANT, recordMerchantView } from './merchant.ts';
import { type MerchantFile, MerchantPage } from './view.tsx';

/** A longer text is in no name and no e-mail address. */
const MAX_SEARCH_LENGTH = 254;

/** The list of merchants, the page of each, and what can be done about it. */
export const merchantHandlers = {
  merchants: async (visit: Visit): Promise<Answer> => {
    const { q: what = '' } = visit.query;
    if (what.length > MAX_SEARCH_LENGTH) throw new ConsoleError(400, 'This search is too long');
    const place = { what: what || null, after: numberIn(visit.query, 'after') };
    const { database } = visit.service;
    const page = await listPage(
      (limit) => listMerchants(database, { ...place, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      ...{ action: 'merchant.list', merchant_id: null, subject: 'merchant' },
      lookedFor: place,
      rows: page.rows.length,
    });
    return { page: <MerchantList what={what} page={page} />, title: 'Merchants' };
  },

  merchant: async (visit: Visit): Promise<Answer> => {
    const file = await fileOf(visit, await MERCHANT.find(visit));
    await recordMerchantView(visit, file.merchant);
    return { page: <MerchantPage visit={visit} file={file} />, title: file.merchant.name };
  },

  /** Shows the phone for this one time. */
  merchantReveal: async (visit: Visit): Promise<Answer> => {
    const file = await fileOf(visit, await MERCHANT.find(visit));
    await recordMerchantView(visit, file.merchant, 'merchant.reveal');
    const page = <MerchantPage visit={visit} file={file} isRevealed />;
    return { page, title: file.merchant.name };
  },

  /** Whoever reloads a revealed page sees the merchant veiled. */
  merchantRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('merchant', params),
  }),

  ...actionHandlers('merchantChange', MERCHANT, namedIn(MERCHANT_ACTIONS)),
};

async function fileOf(visit: Visit, merchant: MerchantRecord): Promise<MerchantFile> {
  const { database } = visit.service;
  const { id: merchant_id } = merchant;
  const appsAfter = numberIn(visit.query, 'apps_after');
  const user_id = idIn(visit.query, 'users_after');
  const lastUser = user_id
    ? await found(requireUserById(database, { merchant_id, user_id }))
    : undefined;
  return {
    merchant,
    wallets: await walletBalances(database, merchant_id),
    apps: await listPage(
      (limit) => listApps(database, { merchant_id, after: appsAfter, limit }),
      ({ code }) => code,
    ),
    users: await listPage(
      (limit) => listUsers(database, { merchant_id, after: lastUser?.email, limit }),
      ({ id }) => id,
    ),
  };
}
