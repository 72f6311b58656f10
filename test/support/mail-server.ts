import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { Certificates } from './certificates.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  text: string;
}

export interface MailServer {
  port: number;
  url: string;
  received: ReceivedMail[];
  /** What it says to each e-mail from now on: null takes it. */
  answerWith(refusal: string | null): void;
  /** Refuses addresses that end so, from now on. Null: none. */
  refuse(ending: string | null): void;
  close(): Promise<void>;
}

/** A mail server that keeps what it takes. It speaks TLS from the start if it has certificates. */
export async function startMailServer({
  port = 0,
  certificates,
}: {
  port?: number;
  certificates?: Certificates;
} = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let refusal: string | null = null;
  let refused: string | null = null;
  const server = new SMTPServer({
    ...(certificates && {
      secure: true,
      cert: readFileSync(certificates.cert),
      key: readFileSync(certificates.key),
    }),
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 1,
    onRcptTo({ address }, _session, done) {
      const isRefused = refused !== null && address.endsWith(refused);
      done(isRefused ? new Error('550 no such domain') : null);
    },
    onData(stream, { envelope }, done) {
      buffer(stream).then((raw) => {
        if (refusal !== null) return done(new Error(refusal));
        const { mailFrom, rcptTo } = envelope;
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          ...parsed(raw.toString('latin1')),
        });
        done();
      }, done);
    },
  });
  // A client that goes away is part of some tests.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const bound = (server.server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `${certificates ? 'smtps' : 'smtp'}://127.0.0.1:${bound}`,
    received,
    answerWith: (next) => {
      refusal = next;
    },
    refuse: (ending) => {
      refused = ending;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function parsed(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.replace(/^[^:]*: ?/, '')]),
  );
  const isQuoted = headers['content-transfer-encoding'] === 'quoted-printable';
  const body = raw.slice(end + 4);
  return { headers, text: (isQuoted ? unquoted(body) : body).replaceAll('\r\n', '\n') };
}

function unquoted(body: string): string {
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
