import {
  type Approval,
  findApproval,
  listDecidedApprovals,
  listOpenApprovals,
} from '../../domain/staff/approval-store.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { type ListPage, listPage } from '../shell/list-page.tsx';
import { idIn } from '../shell/read-filter.ts';
import { uuidIn } from '../shell/read-path.ts';
import type { Visit } from '../visit.ts';

/** The requests that wait for a second person, and those that were decided. */
export interface ApprovalLists {
  open: ListPage<Approval>;
  decided: ListPage<Approval>;
}

/** Reads a page of each list. The two are turned separately. */
export async function readApprovals(visit: Visit): Promise<ApprovalLists> {
  const { service, query } = visit;
  const pageOf = (list: typeof listOpenApprovals, name: keyof ApprovalLists) => {
    const after = idIn(query, name);
    return listPage(
      (limit) => list(service.database, { after, limit }),
      ({ id }) => id,
    );
  };
  const lists = {
    open: await pageOf(listOpenApprovals, 'open'),
    decided: await pageOf(listDecidedApprovals, 'decided'),
  };
  const count = lists.open.rows.length + lists.decided.rows.length;
  const read = { action: 'approval.list', merchant_id: null, subject: 'approval', lookedFor: {} };
  await recordView(visit, { ...read, rows: count });
  return lists;
}

/** Finds a request, and records that it was read. @throws ConsoleError 404 */
export async function readApproval(visit: Visit): Promise<Approval> {
  const id = uuidIn(visit.params, 'id');
  const found = await findApproval(visit.service.database, id);
  if (!found) throw new ConsoleError(404, 'There is no such request');
  const { merchant_id } = found;
  const read = { action: 'approval.show', merchant_id, subject: `approval ${id}`, lookedFor: {} };
  await recordView(visit, { ...read, rows: 1 });
  return found;
}
