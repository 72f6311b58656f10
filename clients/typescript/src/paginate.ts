import type { Arguments, Call, Item, ListPath, Page } from './calls.ts';

/** Walks through a list, page by page. @throws MalipoError */
export type Paginate = <Path extends ListPath>(
  path: Path,
  ...init: Arguments<'get', Path>
) => AsyncGenerator<Item<Path>, void, undefined>;

interface AnyInit {
  params?: { query?: object };
}

/**
 * Follows `next`, so nothing is repeated or skipped while records are added. Of the link only the
 * query counts: the token goes to no other address than the client's.
 */
export function createPaginate(get: Call<'get'>): Paginate {
  const getPage = get as (path: string, init: AnyInit) => Promise<Page<never>>;
  return async function* paginate(path, ...[init]) {
    const { params, ...rest } = (init ?? {}) as AnyInit;
    let query = params?.query ?? {};
    for (;;) {
      const { results, next } = await getPage(path, { ...rest, params: { ...params, query } });
      yield* results;
      if (next === null) return;
      query = Object.fromEntries(new URL(next).searchParams);
    }
  };
}
