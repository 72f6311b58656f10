import { BASE_PATH } from '../../base-path.ts';
import { type Endpoint, takesKey } from '../../endpoints/endpoints.ts';
import { pathParameters } from '../../schemas/paths.ts';
import { exampleOf } from '../content.ts';

/** A request that a sample makes. The samples read the access token from the variable `ACCESS`. */
export interface SampleRequest {
  id: string;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  needsToken: boolean;
  /** Without the token. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Fields | undefined;
}

/** The time limit of a sample, longer than a reversal waits for its gateway. */
export const SAMPLE_TIMEOUT_S = 30;

type Fields = Readonly<Record<string, unknown>>;

/** Makes the request of an endpoint from the examples of its schemas. */
export function sampleRequest(id: string, endpoint: Endpoint, publicUrl: string): SampleRequest {
  const body = endpoint.body && (exampleOf(endpoint.body) as Fields);
  // Without a reference, a copied sample would replay its first answer for as long as keys are kept.
  const key = takesKey(endpoint) && body?.ref_no;
  return {
    id,
    method: endpoint.method.toUpperCase() as SampleRequest['method'],
    url: `${publicUrl}${BASE_PATH}${endpoint.path.replace(/\{(\w+)\}/g, (_, name) => pathExample(name))}`,
    needsToken: endpoint.roles !== undefined,
    headers: [
      ...(key ? ([['Idempotency-Key', String(key)]] as const) : []),
      ...(body ? ([['Content-Type', 'application/json']] as const) : []),
    ],
    body,
  };
}

function pathExample(name: string): string {
  return encodeURIComponent(String(exampleOf(pathParameters[name]!)));
}
