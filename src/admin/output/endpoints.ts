import type { SupportEndpoint } from '../../domain/webhooks/list-endpoints.ts';
import { endpointName } from '../options/endpoints.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

export const endpointView: View<SupportEndpoint> = {
  what: 'endpoint',
  keyOf: endpointName,
  document: (row) => rowDocument(row),
  columns: [
    'state',
    ['MERCHANT', 'merchant_id'],
    'endpoint',
    ['FAILING SINCE', 'failing_since'],
    ['LAST FAILURE', ({ last_status, last_error }) => last_status ?? last_error],
    ['AT', 'last_failure_at'],
    ['LAST SUCCESS', 'last_success_at'],
    'waiting',
    ['NEXT PROBE', 'next_probe_at'],
  ],
};
