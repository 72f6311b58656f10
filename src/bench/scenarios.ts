import { measureAcceptance } from './acceptance.ts';
import { measureDrain } from './drain/measure.ts';
import { measureLists } from './lists/measure.ts';
import type { Scenario } from './scenario.ts';

/** Everything that can be measured, in the order in which it is. */
export const scenarios: readonly Scenario[] = [
  { name: 'acceptance', title: 'Accepting collections', run: measureAcceptance },
  { name: 'drain', title: 'Draining a backlog of payments', run: measureDrain },
  { name: 'lists', title: 'Reading lists of a large merchant', run: measureLists },
];
