/** Every list with every filter, and the combinations that people ask for. */
const COMMON = `page 1; page deep; page by-next; page_size 1; page_size 100; day; month; two years;
  ref_no known; ref_no unknown; ref_no known + two years`;
const PHONES = `phone frequent; phone rare; phone unknown; phone frequent + month;
  phone frequent + two years`;
const CASES = {
  '/collections/checkouts': `${COMMON}; status 3; status 3 + page deep; status 2;
    status 2 + page deep; status 1; status 0; status 2 + day; status 3 + month; status 0 + month;
    status 3 + two years; status 0 + two years`,
  '/collections/list': `${COMMON}; ${PHONES}; status completed; status failed; status pending;
    status failed + month; status pending + month; status failed + two years;
    phone frequent + status completed`,
  '/wallets/transactions': `${COMMON}; ${PHONES}; wallet collection; wallet collection + page deep;
    wallet payout; type collection; type transfer; type topup; type payout;
    wallet payout + type topup; wallet collection + month; wallet payout + month;
    type transfer + month; wallet payout + two years`,
};
/** From so many days ago to so many: an ordinary day and month, and all that there is. */
const DAYS_AGO: Record<string, [from: number, to: number]> = {
  day: [385, 385],
  month: [400, 371],
  'two years': [730, 0],
};
const DAY_MS = 86_400_000;

/**
 * Makes the cases: their names, and their paths below the API's base address.
 * @param known the values of parts that name one, such as `phone rare`
 */
export function listCases(known: Record<string, string>): { name: string; path: string }[] {
  return Object.entries(CASES).flatMap(([list, cases]) =>
    cases.split(/;\s+/).map((name) => {
      const parameters = name.split(' + ').flatMap((part) => parametersOf(part, known));
      return { name: `${list}: ${name}`, path: `${list}?${new URLSearchParams(parameters)}` };
    }),
  );
}

function parametersOf(part: string, known: Record<string, string>): [string, string][] {
  const [from, to] = (DAYS_AGO[part] ?? []).map((days) => new Date(Date.now() - days * DAY_MS));
  if (from && to) {
    return [
      ['date_from', from.toISOString().slice(0, 10)],
      ['date_to', to.toISOString().slice(0, 10)],
    ];
  }
  const [name, value] = part.split(' ') as [string, string];
  return [[name, known[part] ?? value]];
}
