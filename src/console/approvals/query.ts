import { validate as isUuid } from 'uuid';
import {
  type Approval,
  findApproval,
  listDecidedApprovals,
  listOpenApprovals,
} from '../../domain/staff/approval-store.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { type ListPage, PAGE_ROWS, pageOf } from '../shell/keyset.tsx';
import type { Visit } from '../visit.ts';

/** The requests that wait for a second person, and those that were decided. */
export interface ApprovalLists {
  open: ListPage<Approval, string>;
  decided: ListPage<Approval, string>;
}

/** Reads a page of each list. The two are turned separately. */
export async function readApprovals(visit: Visit): Promise<ApprovalLists> {
  const { service, query } = visit;
  const page = (name: string) => ({ after: uuidIn(query[name]), limit: PAGE_ROWS + 1 });
  const keyOf = ({ id }: Approval) => id;
  const lists = {
    open: pageOf(await listOpenApprovals(service.database, page('open')), keyOf),
    decided: pageOf(await listDecidedApprovals(service.database, page('decided')), keyOf),
  };
  const count = lists.open.rows.length + lists.decided.rows.length;
  const read = { action: 'approval.list', merchant_id: null, subject: 'approval', lookedFor: {} };
  await recordView(visit, { ...read, rows: count });
  return lists;
}

/** Finds a request, and records that it was read. @throws ConsoleError 404 */
export async function readApproval(visit: Visit): Promise<Approval> {
  const id = uuidIn(visit.params.id);
  const found = id && (await findApproval(visit.service.database, id));
  if (!found) throw new ConsoleError(404, 'There is no such request');
  const { merchant_id } = found;
  const read = { action: 'approval.show', merchant_id, subject: `approval ${id}`, lookedFor: {} };
  await recordView(visit, { ...read, rows: 1 });
  return found;
}

/** Returns the text if it is an id. Other texts find nothing. */
function uuidIn(text: string | undefined): string | undefined {
  return text !== undefined && isUuid(text) ? text : undefined;
}
