import { measureAcceptance } from './acceptance.ts';
import { measureDrain } from './drain/measure.ts';
import { measureLists } from './lists/measure.ts';
import type { Scenario } from './scenario.ts';
import { measureSoak } from './soak/measure.ts';

/** Everything that can be measured, in the order in which it is. */
export const scenarios: readonly Scenario[] = [
  { name: 'acceptance', title: 'Accepting collections', run: measureAcceptance },
  { name: 'drain', title: 'Draining a backlog of payments', run: measureDrain },
  {
    name: 'soak',
    title: 'Half of the most for a long time',
    onlyByName: true,
    redis: true,
    run: measureSoak,
  },
  { name: 'lists', title: 'Reading lists of a large merchant', run: measureLists },
];
