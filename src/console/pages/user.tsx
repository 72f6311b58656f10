import type { UserRecord } from '../../domain/merchants/user.ts';
import { ActiveBadge } from '../apps/table.tsx';
import { MERCHANT } from '../merchants/merchant.ts';
import { mayUse, pathTo } from '../routes.ts';
import { actionHandlers, namedIn } from '../shell/action.ts';
import { ActionLinks } from '../shell/action-page.tsx';
import { Facts, Time } from '../shell/links.tsx';
import { deactivate, USER_ACTIONS } from '../users/changes.tsx';
import { createUser } from '../users/create.tsx';
import { recordUserView, USER } from '../users/user.ts';
import type { Answer, Visit } from '../visit.ts';

/** The page of a user, and what can be done about it. */
export const userHandlers = {
  user: async (visit: Visit): Promise<Answer> => {
    const user = await USER.find(visit);
    await recordUserView(visit, user);
    return { page: <UserPage visit={visit} user={user} />, title: user.email };
  },

  ...actionHandlers('userDeactivate', USER, () => deactivate),
  ...actionHandlers('userChange', USER, namedIn(USER_ACTIONS)),
  ...actionHandlers('userNew', MERCHANT, () => createUser),
};

/** A person who may log in for a merchant. */
function UserPage({ visit, user }: { visit: Visit; user: UserRecord }) {
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
