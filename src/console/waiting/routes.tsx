import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { listForSupport } from '../../domain/support/list-for-support.ts';
import { recordView } from '../access/record-view.ts';
import { listPage } from '../shell/list-page.tsx';
import { idIn, numberIn, wordIn } from '../shell/read-filter.ts';
import type { Answer, Visit } from '../visit.ts';
import { REASONS, WaitingPage } from './view.tsx';

/** Payments that need support: parked, or overdue. The oldest stands first. */
export const waitingHandlers = {
  waiting: async (visit: Visit): Promise<Answer> => {
    const { query, service } = visit;
    const kind = wordIn(query, 'kind', PAYMENT_KINDS);
    const why = wordIn(query, 'why', REASONS);
    const merchant_id = numberIn(query, 'merchant');
    const after = idIn(query, 'after');
    const filter = { kind, merchant_id, parked: why === 'parked', overdue: why === 'overdue' };
    const page = await listPage(
      (limit) => listForSupport(service.database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      ...{ action: 'payment.list', subject: 'payment', lookedFor: { ...filter, after } },
      merchant_id: merchant_id ?? null,
      rows: page.rows.length,
    });
    return { page: <WaitingPage query={query} page={page} />, title: 'Payments that wait' };
  },
};
