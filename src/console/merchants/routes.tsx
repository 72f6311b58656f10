import { listUsers, requireUserById } from '../../domain/identity/manage-users.ts';
import { listApps } from '../../domain/merchants/manage-apps.ts';
import { listMerchants, type MerchantRecord } from '../../domain/merchants/manage-merchants.ts';
import { walletBalances } from '../../domain/wallets/wallet.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { pathTo } from '../routes.ts';
import { formOf, performing } from '../shell/change.tsx';
import { found, numberIn, uuidIn } from '../shell/found.ts';
import { listPage } from '../shell/next-page.tsx';
import type { Answer, Visit } from '../visit.ts';
import { merchantChange } from './changes.tsx';
import { MerchantList } from './list.tsx';
import { MERCHANT, recordMerchantView } from './merchant.ts';
import { type MerchantFile, MerchantPage } from './view.tsx';

/** A longer text is in no name and no e-mail address. */
const MAX_SEARCH_LENGTH = 254;

/** The list of merchants, the page of each, and what can be done about it. */
export const merchantHandlers = {
  merchants: async (visit: Visit): Promise<Answer> => {
    const { q: what = '', after } = visit.query;
    if (what.length > MAX_SEARCH_LENGTH) throw new ConsoleError(400, 'This search is too long');
    const place = { what: what || null, after: after ? numberIn(visit.query, 'after') : undefined };
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

  merchantChangeForm: formOf(MERCHANT, changeIn),
  merchantChange: performing(MERCHANT, changeIn),
};

function changeIn({ params }: Visit) {
  const change = merchantChange(params.change ?? '');
  if (!change) throw new ConsoleError(404, 'There is no such page');
  return change;
}

async function fileOf(visit: Visit, merchant: MerchantRecord): Promise<MerchantFile> {
  const { database } = visit.service;
  const { id: merchant_id } = merchant;
  const { apps_after, users_after } = visit.query;
  const appsAfter = apps_after ? numberIn(visit.query, 'apps_after') : undefined;
  const lastUser = users_after
    ? await found(
        requireUserById(database, { merchant_id, user_id: uuidIn(visit.query, 'users_after') }),
      )
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
