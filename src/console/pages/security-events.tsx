import { isIpAddress } from '../../domain/address.ts';
import { accountHashes } from '../../domain/credentials/log-in-limit.ts';
import {
  listSecurityEvents,
  SECURITY_EVENT_KINDS,
  type SecurityEventKind,
  type SecurityEventRecord,
} from '../../domain/security/security-events.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import { ChoiceFilter, DayFilters, Filters, TextFilter } from '../shell/filters.tsx';
import { Time } from '../shell/links.tsx';
import { daysIn, idIn, numberIn, textIn, wordIn } from '../shell/read-fields.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';

export const securityEventHandlers = {
  securityEvents: async (visit: Visit): Promise<Answer> => {
    const { query, service } = visit;
    const { database, config } = service;
    const account = textIn(query, 'account');
    const filter = {
      ...daysIn(query),
      kind: wordIn(query, 'kind', SECURITY_EVENT_KINDS),
      merchant_id: numberIn(query, 'merchant'),
      ip: addressIn(query),
    };
    const account_hashes =
      account === undefined ? undefined : accountHashes(config.secretsKeys, account);
    const after = idIn(query, 'after');
    const page = await listPage(
      (limit) => listSecurityEvents(database, { ...filter, account_hashes, after, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      action: 'security.list',
      subject: 'security',
      merchant_id: filter.merchant_id ?? null,
      lookedFor: { ...filter, account },
      rows: page.rows.length,
    });
    return { page: <SecurityEventsPage query={query} page={page} />, title: 'Security events' };
  },
};

function addressIn(query: Visit['query']): string | undefined {
  const ip = textIn(query, 'ip');
  if (ip === undefined || isIpAddress(ip)) return ip;
  throw new ConsoleError(400, 'The field ip must be an IPv4 or IPv6 address');
}

/** Somebody was turned away, or tried what only a stranger would. */
const WARNINGS: ReadonlySet<SecurityEventKind> = new Set([
  ...(['log_in_failed', 'log_in_limited', 'refresh_token_reused'] as const),
  ...(['revoked_token_used', 'address_refused', 'staff_refused'] as const),
]);

type Query = Readonly<Record<string, string>>;

/** Security events, newest first. */
function SecurityEventsPage({
  query,
  page: { rows, next },
}: {
  query: Query;
  page: ListPage<SecurityEventRecord>;
}) {
  const path = pathTo('securityEvents');
  return (
    <>
      <h1>Security events</h1>
      <Filters path={path}>
        <ChoiceFilter name="kind" label="Kind" query={query} choices={SECURITY_EVENT_KINDS} />
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
        <TextFilter name="account" label="Account: e-mail address or app key" query={query} />
        <TextFilter name="ip" label="Address" query={query} />
        <DayFilters query={query} />
      </Filters>
      {rows.length === 0 ? (
        <Empty>No event fits. Take fewer filters, or an earlier day.</Empty>
      ) : (
        <Table rows={rows} columns={COLUMNS} caption="Security events, newest first" />
      )}
      <NextPage path={path} query={query} next={next} />
    </>
  );
}

const COLUMNS: readonly Column<SecurityEventRecord>[] = [
  { heading: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    heading: 'What',
    cell: ({ kind }) => <Badge tone={WARNINGS.has(kind) ? 'warn' : 'plain'} words={kind} />,
  },
  {
    heading: 'Whose',
    cell: ({ merchant_id, app_code, user_id }) =>
      [
        merchant_id !== null && `merchant ${merchant_id}`,
        app_code !== null && `app ${app_code}`,
        user_id !== null && `user ${user_id}`,
      ]
        .filter(Boolean)
        .join(', '),
  },
  { heading: 'Staff', cell: ({ staff }) => staff },
  { heading: 'Address', cell: ({ ip }) => ip },
  { heading: 'Facts', cell: ({ detail }) => <Facts detail={detail} /> },
];

/** The domain puts no secrets and no personal data into them. */
function Facts({ detail }: Pick<SecurityEventRecord, 'detail'>) {
  const facts = Object.entries(detail ?? {});
  if (facts.length === 0) return null;
  const words = facts.map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return <>{words.join('; ')}</>;
}
