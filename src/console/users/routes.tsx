import { MERCHANT } from '../merchants/merchant.ts';
import { actionHandlers, namedIn } from '../shell/action.ts';
import type { Answer, Visit } from '../visit.ts';
import { deactivate, USER_ACTIONS } from './changes.tsx';
import { createUser } from './create.tsx';
import { recordUserView, USER } from './user.ts';
import { UserPage } from './view.tsx';

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
