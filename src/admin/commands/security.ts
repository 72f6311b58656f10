import { isIpAddress } from '../../domain/address.ts';
import { accountHashes } from '../../domain/credentials/log-in-limit.ts';
import {
  allSecurityEvents,
  listSecurityEvents,
  SECURITY_EVENT_KINDS,
  type SecurityEventFilter,
  type SecurityEventRecord,
} from '../../domain/security/security-events.ts';
import { flag, optional, type ValuesOf } from '../../operations/field.ts';
import { checkPeriod, period } from '../../operations/period.ts';
import * as read from '../../operations/readers.ts';
import type { Service } from '../../service/service.ts';
import { lists, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import type { Noun, Verb } from '../verb.ts';

const events: View<SecurityEventRecord> = {
  what: 'security event',
  keyOf: ({ id }) => id,
  document: (row) => rowDocument(row),
  columns: [
    ['WHEN', 'at'],
    ...(['kind', 'merchant_id', 'app_code', 'user_id', 'staff', 'ip', 'detail'] as const),
  ],
};

const ACCOUNT = 'Only log-ins to this account, and attempts: an e-mail address or an app key';
const kind = { ...read.oneOf(SECURITY_EVENT_KINDS), placeholder: 'KIND' };
const MAX_ACCOUNT_LENGTH = 254;
const address = read.textThat('ADDRESS', 'an IPv4 or IPv6 address', isIpAddress);

const filters = {
  kind: optional('kind', kind, 'Only events of this kind; the handbook explains them'),
  merchant_id: read.ofMerchant,
  account: optional('account', read.text('EMAIL', MAX_ACCOUNT_LENGTH), ACCOUNT),
  ip: optional('ip', address, 'Only those from this address'),
  ...period,
};
type Filters = ValuesOf<typeof filters>;

const page = lists(events, read.uuid, {
  role: 'viewer',
  summary: 'Lists what has happened to access: log-ins, failures, revocations, changes',
  notes:
    'Newest first. Days are days of Nairobi. Accounts are kept as hashes under SECRETS_KEY: --account finds events from the time of every key that is still in the list. --jsonl writes all that fit, whatever --limit is, one JSON document a line, as it reads them.',
  options: filters,
  check: checkPeriod,
  read: ({ database, config }, { after, limit, ...given }) =>
    listSecurityEvents(database, { ...filterOf(config, given), after, limit }),
});

function filterOf({ secretsKeys }: Service['config'], given: Filters): SecurityEventFilter {
  const { account, ...filter } = given;
  const account_hashes = account === undefined ? undefined : accountHashes(secretsKeys, account);
  return { ...filter, account_hashes };
}

const list: Verb = {
  ...page,
  options: { ...page.options, jsonl: flag('jsonl', 'Write all of them as JSON lines') },
  run: async (service, values) => {
    const { jsonl, after, limit: _, ...given } = values as unknown as Filters & Paging;
    if (!jsonl) return page.run(service, values);
    const filter = { ...filterOf(service.config, given), after };
    return { data: {}, lines: [], stream: linesOf(service, filter) };
  },
};

interface Paging {
  jsonl: boolean;
  after: string | undefined;
  limit: number;
}

async function* linesOf(
  { database }: Service,
  filter: SecurityEventFilter & Pick<Paging, 'after'>,
): AsyncGenerator<string> {
  for await (const found of allSecurityEvents(database, filter)) {
    yield found.map((row) => `${JSON.stringify(events.document(row))}\n`).join('');
  }
}

export const security: Noun = {
  summary: 'Who got in, who tried, and who changed what lets people in',
  verbs: { list },
};
