import { listForSupport, searchPayments } from '../../domain/support/list-for-support.ts';
import { flag } from '../../operations/field.ts';
import {
  checkPaymentSearch,
  MAX_UNINDEXED_DAYS,
  paymentFilterOf,
  paymentSearch,
} from '../../operations/payment-search.ts';
import * as read from '../../operations/readers.ts';
import { lists } from '../output/answers.ts';
import { payments } from '../output/payments.ts';

export const list = lists(payments, read.uuid, {
  role: 'support',
  summary: 'Lists the payments that fit the filters, or those that need support',
  notes: `Without filters it lists the payments that need support, parked or overdue, oldest first. With filters it lists all payments that fit, newest first. --parked and --overdue list only those that need support, and filters narrow them. Days are days of Nairobi. --phone-ends, --app, --channel and amounts need --phone, or a period of at most ${MAX_UNINDEXED_DAYS} days. A failed payout that waits for its refund is in state failed, though its merchant sees it as processing.`,
  options: {
    ...paymentSearch,
    parked: flag('parked', 'Only those that do not go on by themselves'),
    overdue: flag('overdue', 'Only those that have not ended in time'),
  },
  check: ({ parked, overdue, ...given }) =>
    checkPaymentSearch(given, { isIndexed: parked || overdue }),
  read: ({ database }, { parked, overdue, after, limit, ...given }) => {
    const filter = { ...paymentFilterOf(given), after, limit };
    const isSearch = Object.values(given).some((value) => value !== undefined);
    if (isSearch && !parked && !overdue) return searchPayments(database, filter);
    return listForSupport(database, { ...filter, parked, overdue });
  },
});
