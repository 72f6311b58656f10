import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { listSuspense, sumSuspense } from '../../domain/support/list-suspense.ts';
import { recordView } from '../access/record-view.ts';
import { listPage } from '../shell/list-page.tsx';
import { idIn, numberIn, wordIn } from '../shell/read-filter.ts';
import type { Answer, Visit } from '../visit.ts';
import { SuspensePage } from './view.tsx';

/** Money in suspense, oldest first. */
export const suspenseHandlers = {
  suspense: async (visit: Visit): Promise<Answer> => {
    const { query, service } = visit;
    const { database } = service;
    const merchant_id = numberIn(query, 'merchant');
    const filter = { kind: wordIn(query, 'kind', PAYMENT_KINDS), merchant_id };
    const after = idIn(query, 'after');
    const page = await listPage(
      (limit) => listSuspense(database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    const sums = await sumSuspense(database, filter);
    await recordView(visit, {
      ...{ action: 'suspense.list', subject: 'suspense', lookedFor: { ...filter, after } },
      merchant_id: merchant_id ?? null,
      rows: page.rows.length,
    });
    const shown = <SuspensePage {...{ query, sums, page }} />;
    return { page: shown, title: 'Money in suspense' };
  },
};
