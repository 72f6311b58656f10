import { messageOf } from '../../../src/connections/database-errors.ts';
import type { LoadOrder, LoadReply } from './order.ts';
import { runOrder } from './run-order.ts';

/** The load generator: a process of its own, so that its work is not taken for the service's. */

process.on('disconnect', () => process.exit(0));
process.on('message', (order: LoadOrder) => {
  void runOrder(order)
    .then((result): LoadReply => ({ result }))
    .catch((error): LoadReply => ({ problem: messageOf(error) }))
    .then((reply) => process.send?.(reply));
});
process.send?.('ready');
