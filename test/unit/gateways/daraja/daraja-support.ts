import got from 'got';
import type { DarajaClient } from '../../../../src/gateways/daraja/account.ts';
import { createDarajaGateway } from '../../../../src/gateways/daraja/daraja-gateway.ts';
import {
  type DarajaConfig,
  darajaConfigFromText,
} from '../../../../src/gateways/daraja/settings.ts';
import type { QueryRequest, SubmitRequest } from '../../../../src/gateways/gateway.ts';
import { exchange } from '../../../../src/gateways/http-exchange.ts';
import { Pace } from '../../../../src/gateways/pace.ts';
import type { Deadline } from '../../../../src/time.ts';
import { aSubmission, bodyOf, startLocalServer } from '../../../support/gateway-fixtures.ts';

export const SHORTCODE = '174379';
export const PASSKEY = 'bfb279f9aa9bdbcf158e97dd71a467cd2e0c893059b10f78e6b72ada1ed2c919';
export const CREDENTIAL = 'A'.repeat(344);
export const SETTLING_WINDOW_MS = 60_000;

/** Makes a configuration with one shortcode that can do everything. */
export function aConfig(fields: object = {}, others: object = {}): DarajaConfig {
  const shortcode = {
    consumer_key: 'key',
    consumer_secret: 'secret',
    passkey: PASSKEY,
    initiator: 'testapi',
    security_credential: CREDENTIAL,
    nominated_number: '254712345678',
    ...fields,
  };
  return darajaConfigFromText(
    JSON.stringify({ shortcodes: { [SHORTCODE]: shortcode }, ...others }),
  );
}

/** A server that plays Daraja. It gives the answers in order, and the last one for ever. */
export async function startDaraja() {
  let answers: { status: number; body: unknown }[] = [];
  const requests: { path: string; body: Record<string, unknown> }[] = [];
  const server = await startLocalServer(async (req, res) => {
    requests.push({ path: req.url ?? '', body: JSON.parse(await bodyOf(req)) });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    const { body } = answer!;
    res.writeHead(answer!.status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return {
    ...server,
    requests,
    client: clientOf(server.url),
    answers(status: number, ...bodies: unknown[]) {
      requests.length = 0;
      answers = bodies.map((body) => ({ status, body }));
    },
  };
}

/** Posts without tokens. */
export function clientOf(url: string): DarajaClient {
  const client = got.extend({ prefixUrl: url, throwHttpErrors: false, retry: { limit: 0 } });
  return {
    authenticate: async () => null,
    post: (path, json, deadline?: Deadline) =>
      exchange(client, path, { method: 'POST', json }, { deadline }),
  };
}

/** A driver of the one shortcode. */
export function aGateway(client: DarajaClient, config = aConfig(), pace = new Pace()) {
  const windows = { settlingWindowMs: SETTLING_WINDOW_MS, answerWindowMs: 60_000 };
  return createDarajaGateway({ shortcode: SHORTCODE, config, client, pace, ...windows });
}

export function aRequest(
  kind: SubmitRequest['kind'],
  fields: Partial<SubmitRequest> = {},
): SubmitRequest {
  return {
    ...aSubmission(kind, '+254708374149'),
    reference: 'ref-1',
    merchantName: 'Duka',
    callbackUrl: 'https://pay.example.com/result',
    timeoutUrl: 'https://pay.example.com/timeout',
    ...fields,
  };
}

export function aQuestion(kind: QueryRequest['kind'], fields: Partial<QueryRequest> = {}) {
  return {
    kind,
    reference: 'ref-1',
    externalRef: 'ext-1',
    transId: null,
    callbackUrl: 'https://pay.example.com/answer',
    timeoutUrl: 'https://pay.example.com/timeout',
    ...fields,
  };
}

/** A Result as it comes to a result, answer or timeout address. */
export function aResult(fields: object = {}, parameters?: Record<string, unknown>) {
  const list = Object.entries(parameters ?? {}).map(([Key, Value]) => ({ Key, Value }));
  return {
    Result: {
      ResultType: 0,
      ResultCode: 0,
      ResultDesc: 'The service request is processed successfully.',
      OriginatorConversationID: 'ref-1',
      ConversationID: 'AG_20191219_00005797af5d7d75f652',
      TransactionID: 'NLJ41HAY6Q',
      ...(parameters && { ResultParameters: { ResultParameter: list } }),
      ReferenceData: { ReferenceItem: { Key: 'QueueTimeoutURL', Value: 'https://example.com' } },
      ...fields,
    },
  };
}
