import {
  ENDPOINT_STATES,
  type EndpointKey,
  type SupportEndpoint,
} from '../../domain/webhooks/list-endpoints.ts';
import { reader } from '../../operations/readers.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

const KEY = 'an endpoint as the list names it, such as held/1001/https://shop.example';

/** The name of an endpoint in the list, which `--after` takes. */
export function endpointName({ state, merchant_id, endpoint }: EndpointKey): string {
  return `${state}/${merchant_id}/${endpoint}`;
}

/** Reads what `endpointName` writes. */
export const endpointKey = reader<EndpointKey>('ENDPOINT', KEY, (raw) => {
  const [, word, merchant, endpoint] = /^([a-z]+)\/([1-9]\d{0,14})\/(.+)$/.exec(raw) ?? [];
  const state = ENDPOINT_STATES.find((each) => each === word);
  if (!state || !endpoint) return undefined;
  return { state, merchant_id: Number(merchant), endpoint };
});

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
