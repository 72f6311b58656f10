import { isIpAddress } from '../../domain/ip-address.ts';
import { accountHashes } from '../../domain/security/account-hash.ts';
import { listSecurityEvents } from '../../domain/security/list-security-events.ts';
import { SECURITY_EVENT_KINDS } from '../../domain/security/security-events.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { daysIn, idIn, numberIn, textIn, wordIn } from '../shell/given.ts';
import type { Answer, Visit } from '../visit.ts';
import { PAGE_SIZE, SecurityEventsPage } from './view.tsx';

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
    const found = await listSecurityEvents(database, {
      ...filter,
      account_hashes:
        account === undefined ? undefined : accountHashes(config.secretsKeys, account),
      ...{ after: idIn(query, 'after'), limit: PAGE_SIZE + 1 },
    });
    await recordView(visit, {
      ...{ action: 'security.list', subject: 'security', merchant_id: filter.merchant_id ?? null },
      ...{ lookedFor: { ...filter, account }, rows: Math.min(found.length, PAGE_SIZE) },
    });
    const page = <SecurityEventsPage query={query} found={found} />;
    return { page, title: 'Security events' };
  },
};

function addressIn(query: Visit['query']): string | undefined {
  const ip = textIn(query, 'ip');
  if (ip === undefined || isIpAddress(ip)) return ip;
  throw new ConsoleError(400, 'The field ip must be an IPv4 or IPv6 address');
}
