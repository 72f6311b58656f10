import { readOutcomesLately } from '../../domain/settlement/outcomes-lately.ts';
import type { Answer, Visit } from '../visit.ts';
import { FiguresPart } from './figures-view.tsx';
import { OutcomesPart } from './outcomes-view.tsx';
import { readFigures, readQueues } from './query.ts';
import { QueuesPart } from './queues-view.tsx';
import { Overview } from './view.tsx';

/**
 * The first page. Its figures are nobody's data, so no read is recorded. The queues and the charts
 * come as parts of their own: the page waits for neither.
 */
export const overviewHandlers = {
  overview: async ({ service }: Visit): Promise<Answer> => ({
    page: <Overview figures={await readFigures(service)} />,
    title: 'Overview',
  }),

  overviewFigures: async ({ service }: Visit): Promise<Answer> => ({
    part: <FiguresPart figures={await readFigures(service)} />,
  }),

  overviewQueues: async ({ service }: Visit): Promise<Answer> => ({
    part: <QueuesPart status={await readQueues(service)} />,
  }),

  overviewOutcomes: async ({ service }: Visit): Promise<Answer> => ({
    part: <OutcomesPart outcomes={await readOutcomesLately(service.database)} />,
  }),
};
