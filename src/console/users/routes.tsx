import { ConsoleError } from '../console-error.ts';
import { MERCHANT } from '../merchants/merchant.ts';
import { formOf, performing } from '../shell/change.tsx';
import type { Answer, Visit } from '../visit.ts';
import { deactivate, userChange } from './changes.tsx';
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

  userDeactivateForm: formOf(USER, () => deactivate),
  userDeactivate: performing(USER, () => deactivate),
  userChangeForm: formOf(USER, changeIn),
  userChange: performing(USER, changeIn),
  userNewForm: formOf(MERCHANT, () => createUser),
  userNew: performing(MERCHANT, () => createUser),
};

function changeIn({ params }: Visit) {
  const change = userChange(params.change ?? '');
  if (!change) throw new ConsoleError(404, 'There is no such page');
  return change;
}
