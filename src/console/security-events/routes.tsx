import { isIpAddress } from '../../domain/ip-address.ts';
import { accountHashes } from '../../domain/security/account-hash.ts';
import { listSecurityEvents } from '../../domain/security/list-security-events.ts';
import { SECURITY_EVENT_KINDS } from '../../domain/security/security-events.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { listPage } from '../shell/list-page.tsx';
import { daysIn, idIn, numberIn, textIn, wordIn } from '../shell/read-filter.ts';
import type { Answer, Visit } from '../visit.ts';
import { SecurityEventsPage } from './view.tsx';

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
      ...{ action: 'security.list', subject: 'security', merchant_id: filter.merchant_id ?? null },
      ...{ lookedFor: { ...filter, account }, rows: page.rows.length },
    });
    return { page: <SecurityEventsPage {...{ query, page }} />, title: 'Security events' };
  },
};

function addressIn(query: Visit['query']): string | undefined {
  const ip = textIn(query, 'ip');
  if (ip === undefined || isIpAddress(ip)) return ip;
  throw new ConsoleError(400, 'The field ip must be an IPv4 or IPv6 address');
}
