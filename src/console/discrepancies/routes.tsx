import { pathTo } from '../routes.ts';
import { actionHandlers, type Resource } from '../shell/action.ts';
import type { Answer, Visit } from '../visit.ts';
import { decide } from './decision.tsx';
import { Discrepancy } from './file-view.tsx';
import { type DiscrepancyFile, readDiscrepancies, readDiscrepancy } from './query.ts';
import { Discrepancies } from './view.tsx';

const DISCREPANCY: Resource<DiscrepancyFile> = {
  find: readDiscrepancy,
  nameOf: ({ found }) => `Discrepancy: ${found.kind}`,
  pathOf: ({ found: { id } }) => pathTo('discrepancy', { id }),
};

/** What does not add up, and the decisions about it. */
export const discrepancyHandlers = {
  discrepancies: async (visit: Visit): Promise<Answer> => {
    const page = await readDiscrepancies(visit);
    return { page: <Discrepancies visit={visit} page={page} />, title: 'Discrepancies' };
  },

  discrepancy: async (visit: Visit): Promise<Answer> => {
    const file = await readDiscrepancy(visit);
    return { page: <Discrepancy visit={visit} file={file} />, title: DISCREPANCY.nameOf(file) };
  },

  ...actionHandlers('decideDiscrepancy', DISCREPANCY, () => decide),
};
