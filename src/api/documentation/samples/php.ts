import { type Dialect, literal, quoted } from './literal.ts';
import { SAMPLE_TIMEOUT_S, type SampleRequest } from './request.ts';

const DIALECT: Dialect = {
  object: ['[', ']'],
  array: ['[', ']'],
  pair: (name, value) => `${quoted(name)} => ${value}`,
  words: {},
};

/** Writes a request as a script of PHP, without any package or extension. */
export function php({ method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken ? [`        'Authorization: Bearer ' . getenv('ACCESS'),`] : [];
  const others = headers.map(([name, value]) => `        ${quoted(`${name}: ${value}`)},`);
  const all = [...token, ...others];
  return [
    '<?php',
    "$context = stream_context_create(['http' => [",
    `    'method' => '${method}',`,
    ...(all.length > 0 ? [`    'header' => [`, ...all, '    ],'] : []),
    ...(body ? [`    'content' => json_encode(${literal(body, DIALECT, 4)}),`] : []),
    `    'timeout' => ${SAMPLE_TIMEOUT_S},`,
    "    'ignore_errors' => true, // so that the answer of an error can be read",
    ']]);',
    `$answer = file_get_contents(${quoted(url)}, false, $context);`,
    'if ($answer === false) exit("No answer came\\n");',
    'print_r(json_decode($answer, true));',
    '',
  ].join('\n');
}
