import { maskPhones } from '../../domain/phone.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { pathTo } from '../routes.ts';
import type { Answer, Visit } from '../visit.ts';
import { MAX_SEARCH_LENGTH, type Search, search } from './query.ts';
import { SearchPage } from './view.tsx';

const MERCHANT_ID = /^\d{1,15}$/;

export const searchHandlers = {
  /** One hit is shown at once. */
  search: async (visit: Visit): Promise<Answer> => {
    const { q: what = '', merchant } = visit.query;
    if (what.length > MAX_SEARCH_LENGTH || (merchant && !MERCHANT_ID.test(merchant))) {
      throw new ConsoleError(400, 'This search is too long, or its merchant is no number');
    }
    const wanted: Search = { what, merchant_id: merchant ? Number(merchant) : undefined };
    const isEmpty = what === '' && wanted.merchant_id === undefined;
    const hits = isEmpty ? null : await search(visit.service.database, wanted);
    if (hits) {
      await recordView(visit, {
        ...{ action: 'payment.search', subject: `payment ${maskPhones(what)}`.trim() },
        merchant_id: wanted.merchant_id ?? null,
        lookedFor: { what },
        rows: hits.payments.length + hits.merchants.length,
      });
      const [payment, ...others] = hits.payments;
      if (what !== '' && payment && others.length === 0 && hits.merchants.length === 0) {
        return { goTo: pathTo('payment', { ...payment }) };
      }
    }
    return { page: <SearchPage search={wanted} hits={hits} />, title: 'Search' };
  },
};
