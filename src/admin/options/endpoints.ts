import { ENDPOINT_STATES, type EndpointKey } from '../../domain/webhooks/list-endpoints.ts';
import { reader } from '../../operations/readers.ts';

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

const ORIGINS = 'scheme, host and port such as https://shop.example or https://shop.example:8443';

/** Scheme, host and port of callback addresses, in any spelling. A path would match nothing. */
export const origin = reader('ORIGIN', ORIGINS, (raw) => {
  const url = URL.canParse(raw) ? new URL(raw) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
});
