import { requireUserById, type UserRecord } from '../../domain/merchants/user.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import type { Resource } from '../shell/action.ts';
import { found, numberInPath, uuidIn } from '../shell/read-fields.ts';
import type { Visit } from '../visit.ts';

/** The user that the pages under its address are about. */
export const USER: Resource<UserRecord> = {
  find: ({ service, params }) => {
    const merchant_id = numberInPath(params, 'merchant_id');
    const user_id = uuidIn(params, 'user_id');
    return found(requireUserById(service.database, { merchant_id, user_id }));
  },
  recordView: recordUserView,
  nameOf: ({ email, merchant_id }) => `${email} of merchant ${merchant_id}`,
  pathOf: ({ merchant_id, id: user_id }) => pathTo('user', { merchant_id, user_id }),
};

export async function recordUserView(
  visit: Visit,
  { email, merchant_id }: UserRecord,
): Promise<void> {
  const read = { action: 'user.show', merchant_id, subject: `user ${email}` };
  await recordView(visit, { ...read, lookedFor: { email }, rows: 1 });
}
