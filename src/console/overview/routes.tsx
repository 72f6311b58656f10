import type { Answer } from '../visit.ts';
import { Overview } from './view.tsx';

export const overviewHandlers = {
  overview: async (): Promise<Answer> => ({ page: <Overview />, title: 'Overview' }),
};
