import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const NAME_ERROR = 3;
const TYPES = { 1: 'A', 28: 'AAAA' } as Record<number, 'A' | 'AAAA'>;

/** The bytes of a record, none for "no such record", or null for no answer at all. */
export type Answers = (name: string, type: 'A' | 'AAAA') => number[] | 'none' | null;

export interface NameServer {
  /** Address and port, for a resolver. */
  address: string;
  questions: string[];
  close(): void;
}

/** Serves names over UDP on a free loopback port. */
export async function startNameServer(answers: Answers): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionIn(query);
    questions.push(`${type} ${name}`);
    const found = answers(name, type);
    if (found !== null) socket.send(answerTo(query.subarray(0, end), found), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  return { address: `127.0.0.1:${port}`, questions, close: () => void socket.close() };
}

function questionIn(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: TYPES[query.readUInt16BE(at + 1)]!, end: at + 5 };
}

function answerTo(question: Buffer, found: number[] | 'none'): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (found === 'none' ? NAME_ERROR : 0), 2);
  head.writeUInt16BE(found === 'none' ? 0 : 1, 6);
  head.fill(0, 8, HEADER_BYTES);
  if (found === 'none') return head;
  const record = Buffer.alloc(12);
  // Points to the name in the question, whose type and class it repeats.
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  question.copy(record, 2, question.length - 4);
  record.writeUInt16BE(found.length, 10);
  return Buffer.concat([head, record, Buffer.from(found)]);
}
