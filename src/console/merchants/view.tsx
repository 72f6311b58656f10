import type { UserRecord } from '../../domain/identity/manage-users.ts';
import type { AppRecord } from '../../domain/merchants/manage-apps.ts';
import type { MerchantRecord } from '../../domain/merchants/manage-merchants.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Config } from '../../process/config.ts';
import { AppTable } from '../apps/table.tsx';
import { mayUse, pathTo } from '../routes.ts';
import { ActionLinks } from '../shell/action-page.tsx';
import { Facts } from '../shell/facts.tsx';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { RevealForm } from '../shell/reveal.tsx';
import { Empty } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import { LIFTED, VEILED } from '../shell/veil.ts';
import { UserTable } from '../users/table.tsx';
import type { Visit } from '../visit.ts';
import { Balances } from '../wallets/view.tsx';
import { MERCHANT_ACTIONS } from './changes.tsx';
import { MerchantBadges } from './list.tsx';

/** What the page of a merchant shows. */
export interface MerchantFile {
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
export function MerchantPage({ visit, file, isRevealed = false }: Props) {
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
            <ActionLinks
              {...{ route: 'merchantChange', params: visit.params, subject: merchant }}
              actions={MERCHANT_ACTIONS}
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

/** A merchant without a value of its own has that of the configuration. */
function limitsOf(merchant: MerchantRecord, { commissionDefaults, rateLimit }: Config) {
  const { commission_bps, commission_fixed_cents: fixed } = merchant;
  const own = (value: number | null, fallback: number) =>
    value === null ? `${fallback} (default)` : String(value);
  const fee = formatAmount(fixed ?? commissionDefaults.fixedCents);
  return [
    ['Commission in basis points', own(commission_bps, commissionDefaults.bps)],
    ['Added to each commission', `${fee}${fixed === null ? ' (default)' : ''}`],
    ['Requests per minute', own(merchant.rate_limit_per_minute, rateLimit.perMinute)],
    ['Requests at once', own(merchant.rate_limit_burst, rateLimit.burst)],
  ] as const;
}
