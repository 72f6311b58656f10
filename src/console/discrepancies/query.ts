import { DISCREPANCY_KINDS, type DiscrepancyKind } from '../../domain/discrepancies/discrepancy.ts';
import { type Approval, openApprovalAbout } from '../../domain/staff/approval-store.ts';
import {
  type DiscrepancyCase,
  type DiscrepancyFilter,
  findCase,
  listCases,
} from '../../domain/support/discrepancy-cases.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { type ListPage, listPage } from '../shell/list-page.tsx';
import { ageIn, idIn, numberIn, wordIn } from '../shell/read-filter.ts';
import { uuidIn } from '../shell/read-path.ts';
import type { Visit } from '../visit.ts';

const STATES = ['open', 'resolved'] as const;
const KINDS = Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[];

/** Names a discrepancy in the audit log and in requests, as the command line does. */
export function subjectOf(id: string): string {
  return `discrepancy ${id}`;
}

/** Reads a page of discrepancies: the open ones oldest first, the resolved ones newest first. */
export async function readDiscrepancies(visit: Visit): Promise<ListPage<DiscrepancyCase>> {
  const { service, query } = visit;
  const filter = filterIn(query);
  const order = filter.open ? 'oldest first' : 'newest first';
  const after = idIn(query, 'after');
  const page = await listPage(
    (limit) => listCases(service.database, { ...filter, order, after, limit }),
    ({ id }) => id,
  );
  await recordView(visit, {
    ...{ action: 'discrepancy.list', subject: 'discrepancy', rows: page.rows.length },
    ...{ merchant_id: filter.merchant_id ?? null, lookedFor: { ...query } },
  });
  return page;
}

function filterIn(
  query: Visit['query'],
): Pick<DiscrepancyFilter, 'open' | 'kind' | 'merchant_id' | 'olderThanMs'> {
  return {
    open: wordIn(query, 'state', STATES) !== 'resolved',
    kind: wordIn(query, 'kind', KINDS),
    merchant_id: numberIn(query, 'merchant'),
    olderThanMs: ageIn(query, 'older'),
  };
}

/** A discrepancy, and the request about it that waits for a second person. */
export interface DiscrepancyFile {
  found: DiscrepancyCase;
  request: Approval | undefined;
}

/** Reads a discrepancy, and records that it was read. @throws ConsoleError 404 */
export async function readDiscrepancy(visit: Visit): Promise<DiscrepancyFile> {
  const { database } = visit.service;
  const id = uuidIn(visit.params, 'id');
  const found = await findCase(database, id);
  if (!found) throw new ConsoleError(404, 'There is no such discrepancy');
  const { merchant_id } = found;
  await recordView(visit, {
    ...{ action: 'discrepancy.show', merchant_id, subject: subjectOf(id), rows: 1 },
    lookedFor: {},
  });
  return {
    found,
    request: await openApprovalAbout(database, 'discrepancy.resolve', subjectOf(id)),
  };
}
