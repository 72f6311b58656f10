import type { UserRecord } from '../../domain/identity/manage-users.ts';
import { ActiveBadge } from '../apps/table.tsx';
import { mayUse, pathTo } from '../routes.ts';
import { ActionLinks } from '../shell/action-page.tsx';
import { Facts } from '../shell/facts.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';
import { USER_ACTIONS } from './changes.tsx';

/** A person who may log in for a merchant. */
export function UserPage({ visit, user }: { visit: Visit; user: UserRecord }) {
  const { merchant_id, id: user_id, active } = user;
  const { role } = visit.member;
  return (
    <>
      <h1>{user.email}</h1>
      <p>
        <ActiveBadge active={active} off="deactivated" /> of{' '}
        <a href={pathTo('merchant', { merchant_id })}>merchant {merchant_id}</a>
      </p>
      <section class="card">
        <Facts
          facts={[
            ['Name', user.name],
            ['Role', user.role],
            ['One-time passwords', user.totp ? 'yes' : 'no'],
            ['Must change the password first', user.must_change_password ? 'yes' : 'no'],
            ['Created', <Time at={user.created_at} />],
          ]}
        />
        <p class="buttons">
          {mayUse(role, 'userDeactivate') && active && (
            <a class="button quiet" href={pathTo('userDeactivateForm', { merchant_id, user_id })}>
              Deactivate
            </a>
          )}
          {mayUse(role, 'userChange') && (
            <ActionLinks
              {...{ route: 'userChange', params: visit.params, subject: user }}
              actions={USER_ACTIONS}
            />
          )}
        </p>
      </section>
    </>
  );
}
