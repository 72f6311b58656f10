import { validate as isUuid } from 'uuid';
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
import { ageMs, numberIn } from '../shell/filter.tsx';
import { wordIn } from '../shell/given.ts';
import { type ListPage, PAGE_ROWS, pageOf } from '../shell/keyset.tsx';
import type { Visit } from '../visit.ts';

/** Names a discrepancy in the audit log and in requests, as the command line does. */
export function subjectOf(id: string): string {
  return `discrepancy ${id}`;
}

/** Reads a page of discrepancies: the open ones oldest first, the resolved ones newest first. */
export async function readDiscrepancies(visit: Visit): Promise<ListPage<DiscrepancyCase, string>> {
  const { service, query } = visit;
  const filter = filterIn(query);
  const { after } = query;
  const found = await listCases(service.database, {
    ...filter,
    order: filter.open ? 'oldest first' : 'newest first',
    after: after && isUuid(after) ? after : undefined,
    limit: PAGE_ROWS + 1,
  });
  const page = pageOf(found, ({ id }) => id);
  await recordView(visit, {
    ...{ action: 'discrepancy.list', subject: 'discrepancy', rows: page.rows.length },
    ...{ merchant_id: filter.merchant_id ?? null, lookedFor: { ...query } },
  });
  return page;
}

const KINDS = Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[];

function filterIn(
  query: Visit['query'],
): Pick<DiscrepancyFilter, 'open' | 'kind' | 'merchant_id' | 'olderThanMs'> {
  const { merchant, older, state } = query;
  return {
    open: state !== 'resolved',
    kind: wordIn(query, 'kind', KINDS),
    merchant_id: numberIn(merchant),
    olderThanMs: ageMs(older),
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
  const { id = '' } = visit.params;
  const found = isUuid(id) ? await findCase(database, id) : undefined;
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
