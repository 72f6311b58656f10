import { RETRY_DELAYS_MS, RETRY_JITTER } from '../../src/domain/webhooks/delivery.ts';
import { HOUR_MS, SECOND_MS } from '../../src/time.ts';
import {
  answers,
  breaksOff,
  COMPRESSED,
  drips,
  headOf,
  pours,
  type Receive,
  writes,
} from './receivers.ts';

const GIGABYTE = 1e9;
/** For receivers that do not answer. */
export const SHORT_TIMEOUT_MS = 300;
export const TIMED_OUT = /^timeout: no answer within 300 ms$/;

/** What becomes of a delivery. The waits are those of the database. */
export type Next = 'delivered' | 'stopped' | readonly [fromMs: number, toMs: number];
export const FIRST_RUNG = [RETRY_DELAYS_MS[0]!, RETRY_DELAYS_MS[0]! * (1 + RETRY_JITTER)] as const;

/** What is recorded of an attempt. An answer with a status has no error. */
export type Row = [
  receive: Receive,
  status: number | null,
  recorded: string | RegExp | null,
  next: Next,
  scheme?: 'http' | 'https',
];

const inAnHour = () => new Date(Date.now() + HOUR_MS).toUTCString();
const inside = 'Location: http://169.254.169.254/latest/meta-data/';
const hints = headOf('HTTP/1.1 103 Early Hints', 'Link: </x.css>; rel=preload');
const interim = `${headOf('HTTP/1.1 100 Continue')}${hints}`;
/** Bytes as text, as far as PostgreSQL can store it. */
const textOf = (bytes: Buffer) => bytes.toString().replaceAll('\0', '\uFFFD');
const okHead = headOf('HTTP/1.1 200 OK', 'Content-Length: 2');

/** Each receiver, with the status and the beginning of the answer, or with the error. */
export const RECEIVERS: Readonly<Record<string, Row>> = {
  'answers 200': [answers('200 OK', 'taken'), 200, 'taken', 'delivered'],
  'answers 204': [writes(headOf('HTTP/1.1 204 No Content')), 204, '', 'delivered'],
  'answers 301': [answers('301 Moved', 'there', 'Location: /there'), 301, 'there', FIRST_RUNG],
  'leads inside with 302': [answers('302 Found', '', inside), 302, '', FIRST_RUNG],
  'answers 400': [answers('400 Bad Request', 'why?'), 400, 'why?', FIRST_RUNG],
  'answers 401': [answers('401 Unauthorized', 'who?'), 401, 'who?', FIRST_RUNG],
  'answers 404': [answers('404 Not Found', 'where?'), 404, 'where?', FIRST_RUNG],
  'answers 410': [answers('410 Gone', 'no more'), 410, 'no more', 'stopped'],
  'answers 429 and asks for two minutes': [
    answers('429 Too Many Requests', 'slow', 'Retry-After: 120'),
    ...([429, 'slow', [120 * SECOND_MS, 120 * SECOND_MS]] as const),
  ],
  'answers 429 and asks for an hour by a date': [
    (socket) => answers('429 Too Many Requests', '', `Retry-After: ${inAnHour()}`)(socket),
    ...([429, '', [HOUR_MS - 2 * SECOND_MS, HOUR_MS]] as const),
  ],
  'answers 429 and asks for a second': [
    answers('429 Too Many Requests', '', 'Retry-After: 1'),
    ...([429, '', FIRST_RUNG] as const),
  ],
  'answers 500': [answers('500 Oops', '<h1>Oops</h1>'), 500, '<h1>Oops</h1>', FIRST_RUNG],
  'answers 503 and asks for a month': [
    answers('503 Service Unavailable', '', 'Retry-After: 2592000'),
    ...([503, '', [24 * HOUR_MS, 24 * HOUR_MS]] as const),
  ],
  'answers a status that nobody knows': [answers('999 What', 'x'), 999, 'x', FIRST_RUNG],
  'hangs before the headers': [() => {}, null, TIMED_OUT, FIRST_RUNG],
  'drips headers for ever': [
    drips('HTTP/1.1 200 OK\r\n', 'X-Drop: 1\r\n'),
    ...([null, TIMED_OUT, FIRST_RUNG] as const),
  ],
  'drips hints for ever': [drips(hints, hints), ...([null, TIMED_OUT, FIRST_RUNG] as const)],
  'drips the body of its 200 for ever': [
    drips(headOf('HTTP/1.1 200 OK'), 'drop '),
    ...([200, /^(drop )+$/, 'delivered'] as const),
  ],
  'drips the body of its 500 for ever': [
    drips(headOf('HTTP/1.1 500 Oops'), 'drop '),
    ...([500, /^(drop )+$/, FIRST_RUNG] as const),
  ],
  'answers a gigabyte': [pours(GIGABYTE), 200, 'x'.repeat(1_024), 'delivered'],
  'closes before it answers': [breaksOff(''), null, /socket hang up/, FIRST_RUNG],
  'closes in the middle of the headers': [
    breaksOff('HTTP/1.1 200 OK\r\nContent-Le'),
    ...([null, /socket hang up|Parse Error/, FIRST_RUNG] as const),
  ],
  'closes in the middle of the body': [
    breaksOff(`${headOf('HTTP/1.1 200 OK', 'Content-Length: 1000')}half`),
    ...([200, 'half', 'delivered'] as const),
  ],
  'breaks its chunks': [
    writes(headOf('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'), '2\r\nok\r\nzz\r\n'),
    ...([200, 'ok', 'delivered'] as const),
  ],
  resets: [(socket) => void socket.resetAndDestroy(), null, /ECONNRESET/, FIRST_RUNG],
  'speaks no HTTP': [breaksOff('220 mail.example ESMTP\r\n'), null, /Parse Error/, FIRST_RUNG],
  'speaks no TLS': [breaksOff('what?\r\n\r\n'), null, /SSL|wrong version/, FIRST_RUNG, 'https'],
  'speaks HTTP/1.0': [breaksOff(`${headOf('HTTP/1.0 200 OK')}old`), 200, 'old', 'delivered'],
  'has headers over the limit': [
    answers('200 OK', '', `X-Big: ${'x'.repeat(20_000)}`),
    ...([null, /Header overflow/, FIRST_RUNG] as const),
  ],
  'says 100 and 103 first': [writes(interim, okHead, 'ok'), 200, 'ok', 'delivered'],
  'switches protocols': [
    writes(headOf('HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: x')),
    ...([null, /closed without an answer/, FIRST_RUNG] as const),
  ],
  'answers twice': [writes(okHead, 'ok', okHead, 'no'), 200, 'ok', 'delivered'],
  'compresses its body': [
    answers('200 OK', COMPRESSED, 'Content-Encoding: gzip'),
    ...([200, textOf(COMPRESSED), 'delivered'] as const),
  ],
  'answers what is no text': [
    answers('200 OK', Buffer.from([0x61, 0xff, 0x62, 0x00, 0x63])),
    ...([200, 'a\uFFFDb\uFFFDc', 'delivered'] as const),
  ],
};
