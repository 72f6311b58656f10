import { exampleOf } from '../../records/schema.ts';
import { BASE_PATH } from '../context.ts';
import { type Endpoint, pathParameters, takesKey } from '../endpoints/endpoints.ts';

/** The languages of the samples, the first one shown first. `lang` is for highlighters. */
const LANGUAGES = [
  { lang: 'shell', label: 'curl', write: curl },
  { lang: 'javascript', label: 'Node', write: node },
  { lang: 'python', label: 'Python', write: python },
  { lang: 'php', label: 'PHP', write: php },
  { lang: 'java', label: 'Java', write: java },
] as const;

/** A sample in the form of the extension `x-codeSamples` of OpenAPI. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** Writes the request of an endpoint in each language. */
export function codeSamples(id: string, endpoint: Endpoint, publicUrl: string): CodeSample[] {
  const request = sampleRequest(id, endpoint, publicUrl);
  return LANGUAGES.map(({ lang, label, write }) => ({ lang, label, source: write(request) }));
}

/** A request that a sample makes. The samples read the access token from the variable `ACCESS`. */
interface SampleRequest {
  id: string;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  needsToken: boolean;
  /** Without the token. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Fields | undefined;
}

/** The time limit of a sample, longer than a reversal waits for its gateway. */
const SAMPLE_TIMEOUT_S = 30;

type Fields = Readonly<Record<string, unknown>>;

/** Makes the request of an endpoint from the examples of its schemas. */
function sampleRequest(id: string, endpoint: Endpoint, publicUrl: string): SampleRequest {
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

/** The way in which a language writes values of JSON. */
interface Dialect {
  object: readonly [open: string, close: string];
  array: readonly [open: string, close: string];
  pair: (name: string, value: string) => string;
  /** Words for true, false and null. */
  words: Readonly<Record<string, string>>;
}

const INDENT = 4;

/** Writes a value of JSON as a literal, on lines that are indented this far. Texts are in single quotes. */
export function literal(value: unknown, dialect: Dialect, indent: number): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) {
    const word = String(value);
    return dialect.words[word] ?? word;
  }
  const isArray = Array.isArray(value);
  const items = isArray
    ? value.map((item) => literal(item, dialect, indent + INDENT))
    : Object.entries(value).map(([name, field]) =>
        dialect.pair(name, literal(field, dialect, indent + INDENT)),
      );
  const [open, close] = isArray ? dialect.array : dialect.object;
  const lines = items.map((item) => `${' '.repeat(indent + INDENT)}${item},\n`);
  return `${open}\n${lines.join('')}${' '.repeat(indent)}${close}`;
}

/** Quotes a text in the way in which JavaScript, Python and PHP read it alike. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** Writes a request as a command of a shell. */
function curl({ method, url, needsToken, headers, body }: SampleRequest): string {
  const hasUsualMethod = method === (body ? 'POST' : 'GET');
  return [
    `curl -sS --max-time ${SAMPLE_TIMEOUT_S} ${hasUsualMethod ? '' : `-X ${method} `}${shellQuoted(url)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $ACCESS"'] : []),
    ...headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body ? [`-d ${shellQuoted(JSON.stringify(body, null, 2))}`] : []),
  ].join(' \\\n  ');
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const NODE_DIALECT: Dialect = {
  object: ['{', '}'],
  array: ['[', ']'],
  pair: (name, value) => `${/^\w+$/.test(name) ? name : quoted(name)}: ${value}`,
  words: {},
};

/** Writes a request as a module of Node, without any package. */
function node({ method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken ? ["        Authorization: 'Bearer ' + process.env.ACCESS,"] : [];
  const others = headers.map(
    ([name, value]) => `        ${NODE_DIALECT.pair(name, quoted(value))},`,
  );
  const all = [...token, ...others];
  return [
    `const response = await fetch(${quoted(url)}, {`,
    `    method: '${method}',`,
    ...(all.length > 0 ? ['    headers: {', ...all, '    },'] : []),
    ...(body ? [`    body: JSON.stringify(${literal(body, NODE_DIALECT, 4)}),`] : []),
    `    signal: AbortSignal.timeout(${SAMPLE_TIMEOUT_S}_000),`,
    '});',
    'const answer = await response.json();',
    'if (!response.ok) throw new Error(answer.detail);',
    'console.log(answer);',
    '',
  ].join('\n');
}

const PYTHON_DIALECT: Dialect = {
  object: ['{', '}'],
  array: ['[', ']'],
  pair: (name, value) => `${quoted(name)}: ${value}`,
  words: { true: 'True', false: 'False', null: 'None' },
};

/** Writes a request as a script of Python 3, with the standard library only. */
function python({ method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken ? [`        'Authorization': 'Bearer ' + os.environ['ACCESS'],`] : [];
  const others = headers.map(
    ([name, value]) => `        ${PYTHON_DIALECT.pair(name, quoted(value))},`,
  );
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
    ...(body ? [`    data=json.dumps(${literal(body, PYTHON_DIALECT, 4)}).encode(),`] : []),
    ')',
    'try:',
    `    with urllib.request.urlopen(request, timeout=${SAMPLE_TIMEOUT_S}) as response:`,
    '        print(json.load(response))',
    'except urllib.error.HTTPError as error:',
    '    sys.exit(error.read().decode())',
    '',
  ].join('\n');
}

const PHP_DIALECT: Dialect = {
  object: ['[', ']'],
  array: ['[', ']'],
  pair: (name, value) => `${quoted(name)} => ${value}`,
  words: {},
};

/** Writes a request as a script of PHP, without any package or extension. */
function php({ method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken ? [`        'Authorization: Bearer ' . getenv('ACCESS'),`] : [];
  const others = headers.map(([name, value]) => `        ${quoted(`${name}: ${value}`)},`);
  const all = [...token, ...others];
  return [
    '<?php',
    "$context = stream_context_create(['http' => [",
    `    'method' => '${method}',`,
    ...(all.length > 0 ? [`    'header' => [`, ...all, '    ],'] : []),
    ...(body ? [`    'content' => json_encode(${literal(body, PHP_DIALECT, 4)}),`] : []),
    `    'timeout' => ${SAMPLE_TIMEOUT_S},`,
    "    'ignore_errors' => true, // so that the answer of an error can be read",
    ']]);',
    `$answer = file_get_contents(${quoted(url)}, false, $context);`,
    'if ($answer === false) exit("No answer came\\n");',
    'print_r(json_decode($answer, true));',
    '',
  ].join('\n');
}

/** Writes a request as a program of Java 17 in one file, without any library. */
function java({ id, method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken
    ? ['            .header("Authorization", "Bearer " + System.getenv("ACCESS"))']
    : [];
  const others = headers.map(
    ([name, value]) => `            .header(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
  );
  return [
    'import java.net.URI;',
    'import java.net.http.HttpClient;',
    'import java.net.http.HttpRequest;',
    'import java.net.http.HttpResponse;',
    'import java.time.Duration;',
    '',
    `public class ${id[0]!.toUpperCase()}${id.slice(1)} {`,
    '    public static void main(String[] args) throws Exception {',
    ...(body ? [`        var body = ${textBlock(body)};`] : []),
    `        var request = HttpRequest.newBuilder(URI.create(${JSON.stringify(url)}))`,
    ...token,
    ...others,
    `            .method("${method}", HttpRequest.BodyPublishers.${body ? 'ofString(body)' : 'noBody()'})`,
    `            .timeout(Duration.ofSeconds(${SAMPLE_TIMEOUT_S}))`,
    '            .build();',
    '        var response = HttpClient.newHttpClient()',
    '            .send(request, HttpResponse.BodyHandlers.ofString());',
    '        System.out.println(response.statusCode() + " " + response.body());',
    '    }',
    '}',
    '',
  ].join('\n');
}

/** Doubles the backslashes of the JSON, because a text block reads them. It also ends at quotes. */
function textBlock(body: object): string {
  const json = JSON.stringify(body, null, 2).replaceAll('\\', '\\\\').replaceAll('"""', '\\"""');
  const lines = json.split('\n').map((line) => `            ${line}`);
  return `"""\n${lines.join('\n')}"""`;
}
