import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { listSuspense, sumSuspense } from '../../domain/support/list-suspense.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { numberIn, uuidIn } from '../shell/found.ts';
import { listPage } from '../shell/next-page.tsx';
import type { Answer, Visit } from '../visit.ts';
import { SuspensePage } from './view.tsx';

/** Money in suspense, oldest first. */
export const suspenseHandlers = {
  suspense: async (visit: Visit): Promise<Answer> => {
    const { database } = visit.service;
    const filter = filterIn(visit.query);
    const after = visit.query.after ? uuidIn(visit.query, 'after') : undefined;
    const page = await listPage(
      (limit) => listSuspense(database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    const sums = await sumSuspense(database, filter);
    await recordView(visit, {
      ...{ action: 'suspense.list', subject: 'suspense', lookedFor: { ...filter, after } },
      merchant_id: filter.merchant_id ?? null,
      rows: page.rows.length,
    });
    const shown = <SuspensePage {...{ visit, filter, sums, page }} />;
    return { page: shown, title: 'Money in suspense' };
  },
};

function filterIn(query: Visit['query']) {
  const kind = PAYMENT_KINDS.find((each) => each === query.kind);
  if (query.kind && !kind) throw new ConsoleError(404, 'There is no such kind of payment');
  return { kind, merchant_id: query.merchant ? numberIn(query, 'merchant') : undefined };
}
