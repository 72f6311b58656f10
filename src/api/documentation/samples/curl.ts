import { SAMPLE_TIMEOUT_S, type SampleRequest } from './request.ts';

/** Writes a request as a command of a shell. */
export function curl({ method, url, needsToken, headers, body }: SampleRequest): string {
  const hasUsualMethod = method === (body ? 'POST' : 'GET');
  return [
    `curl -sS --max-time ${SAMPLE_TIMEOUT_S} ${hasUsualMethod ? '' : `-X ${method} `}${quoted(url)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $ACCESS"'] : []),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? [`-d ${quoted(JSON.stringify(body, null, 2))}`] : []),
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
