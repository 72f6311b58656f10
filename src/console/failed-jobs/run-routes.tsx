import { validate as isUuid } from 'uuid';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import {
  type BulkReplay,
  bulkSubject,
  findBulkReplay,
  isWorkedOn,
  listBulkReplays,
  stopBulkReplay,
} from '../../domain/support/bulk-replay.ts';
import { auditedBy } from '../access/audited-by.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { pathTo } from '../routes.ts';
import { PAGE_ROWS, pageOf } from '../shell/keyset.tsx';
import { givenReason } from '../shell/reason.ts';
import type { Answer, Visit } from '../visit.ts';
import { BulkReplayPage, BulkReplays, Progress } from './run-view.tsx';

/** Replays of many failed jobs: their progress, and their end. */
export const bulkReplayHandlers = {
  bulkReplays: async (visit: Visit): Promise<Answer> => {
    const { after } = visit.query;
    const found = await listBulkReplays(visit.service.database, {
      after: after && isUuid(after) ? after : undefined,
      limit: PAGE_ROWS + 1,
    });
    const page = pageOf(found, ({ id }) => id);
    await recordView(visit, {
      ...{ action: 'jobs.list-replays', merchant_id: null, subject: 'bulk replay' },
      ...{ lookedFor: {}, rows: page.rows.length },
    });
    return { page: <BulkReplays page={page} />, title: 'Replays of many jobs' };
  },

  bulkReplay: async (visit: Visit): Promise<Answer> => {
    const bulk = await find(visit);
    await recordView(visit, {
      ...{ action: 'jobs.show-replay', merchant_id: bulk.filter.merchant_id ?? null },
      ...{ subject: bulkSubject(bulk.id), lookedFor: {}, rows: 1 },
    });
    return show(visit, bulk);
  },

  // The page around it has recorded the read.
  bulkReplayLive: async (visit: Visit): Promise<Answer> => {
    const bulk = await find(visit);
    return { part: <Progress bulk={bulk} isWaiting={await isWaiting(visit, bulk)} /> };
  },

  stopBulkReplay: async (visit: Visit): Promise<Answer> => {
    const { id } = await find(visit);
    try {
      const reason = givenReason(visit);
      const audited = auditedBy(visit, 'stopBulkReplay', { action: 'jobs.stop-replay', reason });
      await audited((trx) => stopBulkReplay(trx, id, visit.member.email));
      return { goTo: pathTo('bulkReplay', { id }) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return show(visit, await find(visit), error);
    }
  },
};

async function find({ service, params: { id = '' } }: Visit): Promise<BulkReplay> {
  const found = isUuid(id) ? await findBulkReplay(service.database, id) : undefined;
  if (!found) throw new ConsoleError(404, 'There is no such replay');
  return found;
}

async function show(visit: Visit, bulk: BulkReplay, refusal?: OperatorRefusal): Promise<Answer> {
  const props = { visit, bulk, isWaiting: await isWaiting(visit, bulk) };
  const page = <BulkReplayPage {...props} problem={refusal?.message} />;
  return { page, title: 'Replay of many jobs', ...(refusal && { status: 422, refusal }) };
}

/** Tells whether it should run and no console works on it. */
async function isWaiting({ service }: Visit, { id, state }: BulkReplay): Promise<boolean> {
  return state === 'running' && !(await isWorkedOn(service.database, id));
}
