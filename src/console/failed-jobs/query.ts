import {
  FAILED_JOB_STATES,
  type FailedJob,
  type FailedJobState,
  listFailedJobs,
} from '../../domain/support/failed-job-store.ts';
import { recordView } from '../access/record-view.ts';
import { type ListPage, listPage } from '../shell/list-page.tsx';
import { idIn, numberIn } from '../shell/read-filter.ts';
import type { Visit } from '../visit.ts';
import { filterIn } from './selection.ts';

/** Returns the state that the list shows: those that wait, unless the address says otherwise. */
export function stateIn({ state, bulk }: Visit['query']): FailedJobState | undefined {
  const found = FAILED_JOB_STATES.find((each) => each === state);
  return found ?? (state === 'all' || bulk ? undefined : 'waiting');
}

/** Reads a page of failed jobs, newest first. */
export async function readFailedJobs(visit: Visit): Promise<ListPage<FailedJob, number>> {
  const { service, query } = visit;
  const filter = {
    ...filterIn(query),
    state: stateIn(query),
    bulkReplay: idIn(query, 'bulk'),
  };
  const placed = { order: 'newest first', after: numberIn(query, 'after') } as const;
  const page = await listPage(
    (limit) => listFailedJobs(service.database, filter, { ...placed, limit }),
    ({ id }) => id,
  );
  await recordView(visit, {
    ...{ action: 'jobs.list', subject: 'jobs', rows: page.rows.length },
    ...{ merchant_id: filter.merchant_id ?? null, lookedFor: { ...query } },
  });
  return page;
}
