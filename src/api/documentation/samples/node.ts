import { type Dialect, literal, quoted } from './literal.ts';
import { SAMPLE_TIMEOUT_S, type SampleRequest } from './request.ts';

const DIALECT: Dialect = {
  object: ['{', '}'],
  array: ['[', ']'],
  pair: (name, value) => `${/^\w+$/.test(name) ? name : quoted(name)}: ${value}`,
  words: {},
};

/** Writes a request as a module of Node, without any package. */
export function node({ method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken ? ["        Authorization: 'Bearer ' + process.env.ACCESS,"] : [];
  const others = headers.map(([name, value]) => `        ${DIALECT.pair(name, quoted(value))},`);
  const all = [...token, ...others];
  return [
    `const response = await fetch(${quoted(url)}, {`,
    `    method: '${method}',`,
    ...(all.length > 0 ? ['    headers: {', ...all, '    },'] : []),
    ...(body ? [`    body: JSON.stringify(${literal(body, DIALECT, 4)}),`] : []),
    `    signal: AbortSignal.timeout(${SAMPLE_TIMEOUT_S}_000),`,
    '});',
    'const answer = await response.json();',
    'if (!response.ok) throw new Error(answer.detail);',
    'console.log(answer);',
    '',
  ].join('\n');
}
