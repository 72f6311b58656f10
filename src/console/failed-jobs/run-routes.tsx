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
import { listPage } from '../shell/list-page.tsx';
import { idIn } from '../shell/read-filter.ts';
import { uuidIn } from '../shell/read-path.ts';
import { givenReason } from '../shell/reason-form.tsx';
import type { Answer, Visit } from '../visit.ts';
import { BulkReplayPage, BulkReplays, Progress } from './run-view.tsx';

/** Replays of many failed jobs: their progress, and their end. */
export const bulkReplayHandlers = {
  bulkReplays: async (visit: Visit): Promise<Answer> => {
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listBulkReplays(visit.service.database, { after, limit }),
      ({ id }) => id,
    );
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

async function find({ service, params }: Visit): Promise<BulkReplay> {
  const found = await findBulkReplay(service.database, uuidIn(params, 'id'));
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
