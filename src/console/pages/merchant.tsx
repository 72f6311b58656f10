import { type AppRecord, listApps } from '../../domain/merchants/app.ts';
import {
  listMerchants,
  MAX_SEARCH_LENGTH,
  type MerchantRecord,
} from '../../domain/merchants/merchant.ts';
import { listUsers, requireUserById, type UserRecord } from '../../domain/merchants/user.ts';
import { formatAmount } from '../../domain/money.ts';
import { LIFTED, VEILED } from '../../domain/veil.ts';
import { walletBalances } from '../../domain/wallets/list-transactions.ts';
import { merchantOperations } from '../../operations/merchant.ts';
import type { Config } from '../../process/config.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Facts, Time } from '../shell/links.tsx';
import { OperationLinks, operationHandlers, pagesOf } from '../shell/operation.tsx';
import { found, idIn, numberIn } from '../shell/read-fields.ts';
import { RevealForm } from '../shell/reason-form.tsx';
import { Empty, type ListPage, listPage, NextPage } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { AppTable } from './app.tsx';
import { MERCHANT, MerchantBadges, MerchantList, recordMerchantView } from './merchants.tsx';
import { UserTable } from './user.tsx';
import { Balances } from './wallets.tsx';

const pages = pagesOf(merchantOperations);

/** The list of merchants, the page of each, and what can be done about it. */
export const merchantHandlers = {
  merchants: async (visit: Visit): Promise<Answer> => {
    const { q: what = '' } = visit.query;
    if (what.length > MAX_SEARCH_LENGTH) throw new ConsoleError(400, 'This search is too long');
    const place = { what, after: numberIn(visit.query, 'after') };
    const { database } = visit.service;
    const page = await listPage(
      (limit) => listMerchants(database, { ...place, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      action: 'merchant.list',
      merchant_id: null,
      subject: 'merchant',
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

  /** A reload of a revealed page shows the merchant veiled. */
  merchantRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('merchant', params),
  }),

  ...operationHandlers('merchantChange', { resource: MERCHANT, pages }),
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

/** The facts on the page of a merchant. */
interface MerchantFile {
  merchant: MerchantRecord;
  wallets: { collection?: number; payout?: number };
  apps: ListPage<AppRecord, number>;
  users: ListPage<UserRecord, string>;
}

interface Props {
  visit: Visit;
  file: MerchantFile;
  isRevealed?: boolean;
}

/** A merchant, with its wallets, apps and users. */
function MerchantPage({ visit, file, isRevealed = false }: Props) {
  const { merchant, wallets, apps, users } = file;
  const { role } = visit.member;
  const path = pathTo('merchant', visit.params);
  return (
    <>
      <h1>{merchant.name}</h1>
      <p>
        <MerchantBadges merchant={merchant} />
      </p>
      <section class="card">
        <Particulars visit={visit} merchant={merchant} isRevealed={isRevealed} />
        {mayUse(role, 'merchantChange') && (
          <p class="buttons">
            <OperationLinks
              route="merchantChange"
              params={visit.params}
              subject={merchant}
              pages={pages}
            />
          </p>
        )}
      </section>
      <h2>Wallets</h2>
      <section class="card">
        <Balances balances={wallets} />
        <p class="buttons">
          <a class="button quiet" href={pathTo('wallets', visit.params)}>
            Its transactions
          </a>
          <a class="button quiet" href={`${pathTo('search')}?merchant=${merchant.id}`}>
            Its newest payments
          </a>
        </p>
      </section>
      <h2>Apps</h2>
      {apps.rows.length > 0 ? (
        <AppTable apps={apps.rows} />
      ) : (
        <Empty>No apps. Without one, its programs cannot log in.</Empty>
      )}
      <NextPage path={path} next={apps.next} name="apps_after" />
      {mayUse(role, 'appNew') && (
        <a class="button quiet" href={pathTo('appNewForm', visit.params)}>
          Create an app
        </a>
      )}
      <h2>Users</h2>
      {users.rows.length > 0 ? (
        <UserTable users={users.rows} />
      ) : (
        <Empty>No users. Nobody can log in for this merchant.</Empty>
      )}
      <NextPage path={path} next={users.next} name="users_after" />
      {mayUse(role, 'userNew') && (
        <a class="button quiet" href={pathTo('userNewForm', visit.params)}>
          Create a user
        </a>
      )}
    </>
  );
}

const ANYWHERE = 'anywhere';

function Particulars({
  visit,
  merchant,
  isRevealed,
}: {
  visit: Visit;
  merchant: MerchantRecord;
  isRevealed: boolean;
}) {
  const veil = isRevealed ? LIFTED : VEILED;
  const limits = limitsOf(merchant, visit.service.config);
  return (
    <>
      <Facts
        facts={[
          ['Number', merchant.id],
          ['E-mail address', merchant.email],
          ['Phone', veil.account(merchant.phone_number)],
          ...limits,
          ['Its users may come from', merchant.user_ip_allow_list.join(', ') || ANYWHERE],
          ['One-time passwords needed for', merchant.totp_required_for.join(', ') || 'nothing'],
          ['Created', <Time at={merchant.created_at} />],
        ]}
      />
      {!isRevealed && <RevealForm visit={visit} route="merchantReveal" />}
    </>
  );
}

/** A merchant without a value of its own has the value of the configuration. */
function limitsOf(merchant: MerchantRecord, { commissionDefaults, rateLimit }: Config) {
  const { commission_bps, commission_fixed_cents: fixed } = merchant;
  const own = (value: number | null, fallback: number) =>
    value === null ? `${fallback} (default)` : String(value);
  const fee = formatAmount(fixed ?? commissionDefaults.fixedCents);
  return [
    ['Commission in basis points', own(commission_bps, commissionDefaults.bps)],
    ['Added to each commission', `${fee}${fixed === null ? ' (default)' : ''}`],
    ['Debt limit', formatAmount(merchant.debt_limit_cents)],
    ['Requests per minute', own(merchant.rate_limit_per_minute, rateLimit.perMinute)],
    ['Requests at once', own(merchant.rate_limit_burst, rateLimit.burst)],
    ['Payouts per minute', own(merchant.payout_limit_per_minute, rateLimit.perMinute)],
    ['Payouts at once', own(merchant.payout_limit_burst, rateLimit.burst)],
  ] as const;
}
