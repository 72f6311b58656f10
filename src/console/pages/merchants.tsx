import { type MerchantRecord, requireMerchant } from '../../domain/merchants/merchant.ts';
import { VEILED } from '../../domain/veil.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import type { Resource } from '../shell/operation.tsx';
import { found, numberInPath } from '../shell/read-fields.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, NextPage, Table } from '../shell/table.tsx';
import type { Visit } from '../visit.ts';

/** The merchant that the pages under its address are about. */
export const MERCHANT: Resource<MerchantRecord> = {
  find: ({ service, params }) =>
    found(requireMerchant(service.database, numberInPath(params, 'merchant_id'))),
  recordView: (visit, merchant) => recordMerchantView(visit, merchant),
  nameOf: ({ id, name }) => `${name} (merchant ${id})`,
  pathOf: ({ id: merchant_id }) => pathTo('merchant', { merchant_id }),
};

export async function recordMerchantView(
  visit: Visit,
  { id: merchant_id }: MerchantRecord,
  action = 'merchant.show',
): Promise<void> {
  const subject = `merchant ${merchant_id}`;
  await recordView(visit, { action, merchant_id, subject, lookedFor: { merchant_id }, rows: 1 });
}

interface Props {
  what: string;
  page: ListPage<MerchantRecord, number>;
}

/** The merchants, by their numbers. */
export function MerchantList({ what, page: { rows, next } }: Props) {
  const path = pathTo('merchants');
  return (
    <>
      <h1>Merchants</h1>
      <form method="get" action={path} class="card search">
        <input
          type="search"
          name="q"
          value={what}
          aria-label="The number of a merchant, or a part of its name or e-mail address"
          placeholder="Number, name or e-mail address"
        />
        <button type="submit">Search</button>
      </form>
      {rows.length === 0 ? (
        <Empty>
          {what === ''
            ? 'There are no merchants yet. The command line creates them: merchant create.'
            : `No merchant has ${JSON.stringify(what)} as its number or in its name or e-mail address. Try a shorter part.`}
        </Empty>
      ) : (
        <Table rows={rows} columns={COLUMNS} caption="Merchants" />
      )}
      <NextPage path={path} query={{ q: what }} next={next} />
    </>
  );
}

const COLUMNS: readonly Column<MerchantRecord>[] = [
  {
    heading: 'Merchant',
    cell: ({ id: merchant_id, name }) => <a href={pathTo('merchant', { merchant_id })}>{name}</a>,
  },
  { heading: 'Number', cell: ({ id }) => id },
  { heading: 'E-mail address', cell: ({ email }) => email },
  { heading: 'Phone', cell: ({ phone_number }) => VEILED.account(phone_number) },
  { heading: 'State', cell: (merchant) => <MerchantBadges merchant={merchant} /> },
];

/** Shows whether a merchant is approved and active, and whether its payouts are held. */
export function MerchantBadges({
  merchant: { active, approved, payouts_held },
}: {
  merchant: Pick<MerchantRecord, 'active' | 'approved' | 'payouts_held'>;
}) {
  return (
    <>
      {active ? (
        <Badge
          tone={approved ? 'good' : 'warn'}
          words={approved ? 'approved' : 'not approved yet'}
        />
      ) : (
        <Badge tone="bad" words="suspended" />
      )}{' '}
      {payouts_held && <Badge tone="warn" words="payouts and reversals held" />}
    </>
  );
}
