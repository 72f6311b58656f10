import { randomUUID } from 'node:crypto';
import { compactTime } from '../../../scripts/daraja-simulator/nairobi-time.ts';
import type { QuirkRates } from '../../../scripts/daraja-simulator/quirks.ts';
import {
  type DarajaSimulatorOptions,
  startDarajaSimulator,
} from '../../../scripts/daraja-simulator/server.ts';
import { eventually, startCallbackReceiver } from '../../support/gateway-fixtures.ts';

export type Json = Record<string, unknown>;
export type Answer = { status: number; body: Json; text: string };
export type Caller = Awaited<ReturnType<typeof startCaller>>;
export interface Line {
  reference: string;
  kind: string;
  account: string;
  amount: string;
  trans_id: string;
  completed_at: string;
  account_reference?: string;
}

export const PATHS = {
  stkPush: '/mpesa/stkpush/v1/processrequest',
  stkQuery: '/mpesa/stkpushquery/v1/query',
  b2c: '/mpesa/b2c/v3/paymentrequest',
  transactionStatus: '/mpesa/transactionstatus/v1/query',
  reversal: '/mpesa/reversal/v1/request',
  accountBalance: '/mpesa/accountbalance/v1/query',
  pullRegister: '/pulltransactions/v1/register',
  pullQuery: '/pulltransactions/v1/query',
  organization: '/sfcverify/v1/query/info',
} as const;

export const SHORT_CODE = '174379';
export const PASSKEY = 'a-passkey';
export const CREDENTIAL = `${'A'.repeat(342)}==`;
export const BASIC = `Basic ${Buffer.from('key:secret').toString('base64')}`;
const DELAY_MS = 20;
const SLOW_SUCCESS_MS = 400;

/** Starts a simulator, a receiver of its callbacks, and what a merchant's side sends. */
export async function startCaller(options: Partial<DarajaSimulatorOptions> = {}) {
  const times = { delayMs: DELAY_MS, slowSuccessMs: SLOW_SUCCESS_MS };
  const simulator = await startDarajaSimulator({ port: 0, ...times, passkey: PASSKEY, ...options });
  const events: string[] = [];
  const receiver = await startCallbackReceiver((name) => void events.push(name));
  let token = '';

  async function call(method: string, path: string, body?: unknown, headers: Json = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const all = { 'content-type': 'application/json', ...headers } as Record<string, string>;
    const response = await fetch(`${simulator.url}${path}`, { method, headers: all, body: text });
    return answerOf(response.status, await response.text());
  }

  const post = (path: string, body: unknown, bearer = token) =>
    call('POST', path, body, { authorization: `Bearer ${bearer}` });

  async function renewToken(): Promise<string> {
    const path = '/oauth/v1/generate?grant_type=client_credentials';
    token = (await call('GET', path, undefined, { authorization: BASIC })).body
      .access_token as string;
    return token;
  }

  const bodies = makeBodies((name) => receiver.urlFor(name));
  await renewToken();
  return {
    ...{ simulator, receiver, events, call, post, renewToken, bodies },
    /** Waits for the callbacks to an address, until there are as many as asked for. */
    callbacks: (name: string, count = 1): Promise<Json[]> =>
      eventually(() => {
        const received = receiver.bodiesOf(name);
        if (received.length < count) return undefined;
        return received.map((text) => JSON.parse(text) as Json);
      }),
    setQuirks: (quirks: QuirkRates) => call('POST', '/faults', { quirks }),
    statement: async (query = ''): Promise<Line[]> =>
      (await call('GET', `/statement${query}`)).body as unknown as Line[],
    close: () => Promise.all([simulator.close(), receiver.close()]),
  };
}

let phones = 0;

/** A phone that no other test of the file has, and that plays the part of its last three digits. */
export function phoneOf(part: string): string {
  return `2547${String(phones++).padStart(5, '0')}${part}`;
}

export function stkPassword(timestamp: string, passkey = PASSKEY): string {
  return Buffer.from(`${SHORT_CODE}${passkey}${timestamp}`).toString('base64');
}

/** Tells how a request ended, in one word. */
export async function seenAs(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer.catch(() => ({ status: 0, body: {} as Json }));
  if (status === 0) return 'lost';
  return body.ResponseCode === '0' ? 'taken' : String(body.errorCode ?? status);
}

function answerOf(status: number, text: string): Answer {
  try {
    return { status, text, body: JSON.parse(text) };
  } catch {
    return { status, text, body: {} };
  }
}

function makeBodies(urlFor: (name: string) => string) {
  const caller = (now = new Date()) => {
    const Timestamp = compactTime(now);
    return { BusinessShortCode: Number(SHORT_CODE), Password: stkPassword(Timestamp), Timestamp };
  };
  const addresses = (name: string) => ({
    ResultURL: urlFor(name),
    QueueTimeOutURL: urlFor(`${name}-timeout`),
    Remarks: 'Test',
  });
  const initiator = (CommandID: string) => ({
    Initiator: 'testapi',
    SecurityCredential: CREDENTIAL,
    CommandID,
  });
  return {
    stkPush: (phone: string, name: string, fields: Json = {}) => ({
      ...caller(),
      TransactionType: 'CustomerPayBillOnline',
      Amount: '100',
      PartyA: phone,
      PartyB: SHORT_CODE,
      PhoneNumber: phone,
      CallBackURL: urlFor(name),
      AccountReference: 'Shop INV-1',
      TransactionDesc: 'INV-1',
      ...fields,
    }),
    stkQuery: (CheckoutRequestID: unknown, fields: Json = {}) => ({
      ...caller(),
      CheckoutRequestID,
      ...fields,
    }),
    b2c: (phone: string, name: string, fields: Json = {}) => ({
      OriginatorConversationID: randomUUID(),
      InitiatorName: 'testapi',
      SecurityCredential: CREDENTIAL,
      CommandID: 'BusinessPayment',
      Amount: '100',
      PartyA: SHORT_CODE,
      PartyB: phone,
      ...addresses(name),
      ...fields,
    }),
    reversal: (TransactionID: unknown, name: string, fields: Json = {}) => ({
      ...initiator('TransactionReversal'),
      TransactionID,
      Amount: '100',
      ReceiverParty: SHORT_CODE,
      RecieverIdentifierType: '11',
      ...addresses(name),
      ...fields,
    }),
    transactionStatus: (asked: Json, name: string) => ({
      ...initiator('TransactionStatusQuery'),
      ...asked,
      PartyA: SHORT_CODE,
      IdentifierType: '4',
      ...addresses(name),
    }),
    accountBalance: (name: string, fields: Json = {}) => ({
      ...initiator('AccountBalance'),
      PartyA: SHORT_CODE,
      IdentifierType: '4',
      ...addresses(name),
      ...fields,
    }),
  };
}

export interface StkCallback {
  MerchantRequestID: string;
  CheckoutRequestID: string;
  ResultCode: number | string;
  ResultDesc: string;
  CallbackMetadata?: { Item: { Name: string; Value?: unknown }[] };
}

export function stkCallbackOf(body: Json): StkCallback {
  return (body.Body as { stkCallback: StkCallback }).stkCallback;
}

export interface Result {
  ResultCode: number | string;
  ResultDesc: string;
  OriginatorConversationID: string;
  ConversationID: string;
  TransactionID: string;
  ResultParameters?: { ResultParameter: Parameter | Parameter[] };
  ReferenceData: { ReferenceItem: Parameter };
}

interface Parameter {
  Key: string;
  Value: unknown;
}

export function resultOf(body: Json): Result {
  return body.Result as Result;
}

/** The parameters of a result by their keys. */
export function parametersOf(body: Json): Json {
  const list = resultOf(body).ResultParameters?.ResultParameter ?? [];
  return Object.fromEntries([list].flat().map(({ Key, Value }) => [Key, Value]));
}
