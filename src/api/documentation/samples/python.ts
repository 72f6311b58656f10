import { type Dialect, literal, quoted } from './literal.ts';
import { SAMPLE_TIMEOUT_S, type SampleRequest } from './request.ts';

const DIALECT: Dialect = {
  object: ['{', '}'],
  array: ['[', ']'],
  pair: (name, value) => `${quoted(name)}: ${value}`,
  words: { true: 'True', false: 'False', null: 'None' },
};

/** Writes a request as a script of Python 3, with the standard library only. */
export function python({ method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken ? [`        'Authorization': 'Bearer ' + os.environ['ACCESS'],`] : [];
  const others = headers.map(([name, value]) => `        ${DIALECT.pair(name, quoted(value))},`);
  const all = [...token, ...others];
  return [
    'import json',
    ...(needsToken ? ['import os'] : []),
    'import sys',
    'import urllib.error',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${quoted(url)},`,
    `    method='${method}',`,
    ...(all.length > 0 ? ['    headers={', ...all, '    },'] : []),
    ...(body ? [`    data=json.dumps(${literal(body, DIALECT, 4)}).encode(),`] : []),
    ')',
    'try:',
    `    with urllib.request.urlopen(request, timeout=${SAMPLE_TIMEOUT_S}) as response:`,
    '        print(json.load(response))',
    'except urllib.error.HTTPError as error:',
    '    sys.exit(error.read().decode())',
    '',
  ].join('\n');
}
