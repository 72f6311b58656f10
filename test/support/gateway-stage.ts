import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  CallbackAddress,
  Gateway,
  GatewayPaymentKind,
  ParsedCallback,
  QueryResult,
  SubmitRequest,
} from '../../src/gateways/gateway.ts';
import {
  aSubmission,
  type CallbackReceiver,
  eventually,
  type LocalServer,
  startCallbackReceiver,
} from './gateway-fixtures.ts';

/** What can happen to a payment, for which a provider's simulator has accounts. */
export type Part =
  | 'succeeds'
  | 'declined'
  | 'fails'
  /** Has no outcome before the suite is through. */
  | 'staysOpen'
  /** The request is taken and succeeds, but the answer to it is lost. */
  | 'answerLost'
  /** The first request is not taken, and its answer is lost. */
  | 'requestLost'
  /** The first two requests are turned away, and the third one is taken. */
  | 'busy'
  | 'callbackLost'
  | 'callbackTwice'
  /** The callback comes before the answer to the request. */
  | 'callbackEarly'
  /** It fails, and succeeds all the same. */
  | 'failsThenSucceeds'
  | 'anotherAmount'
  /** It ends with a code that the driver does not know. */
  | 'unknownCode'
  | 'operatorTrouble'
  /** It could not be processed in time, and succeeds later. */
  | 'queueTimeout';

/** The last three digits of the accounts that play a part, for the kinds that have it. */
export type Endings = Readonly<Partial<Record<GatewayPaymentKind, string>>>;

/** What a driver brings along to be put through the suite. */
export interface GatewayUnderTest {
  /** What its driver must say of references. */
  resubmit: Readonly<Record<GatewayPaymentKind, 'safe' | 'never'>>;
  /** The answer to a reference that comes again: the first one, or one without a reference. */
  repeats: 'as before' | 'taken before';
  /** What is known about a reference that was never sent; by default `notFound`. */
  neverSent?: Readonly<Partial<Record<GatewayPaymentKind, 'noAnswer'>>>;
  /** A driver that talks to this address: a simulator's, a closed port's or a broken server's. */
  makeGateway(baseUrl: string, timeoutMs: number): Gateway;
  /** The provider's own simulator. */
  startSimulator(): Promise<RunningSimulator>;
  parts: Readonly<Partial<Record<Part, Endings>>>;
  /**
   * Answers what a driver must ask before the request in question (a token, say), so that
   * broken servers break on the latter. Returns whether it has answered.
   */
  answerPreliminary?(req: IncomingMessage, res: ServerResponse): boolean;
}

export interface RunningSimulator extends LocalServer {
  /** The receipts of the movements of money that it has made for a payment. */
  receiptsOf(request: SubmitRequest): Promise<string[]>;
}

export const KINDS: readonly GatewayPaymentKind[] = ['collection', 'payout', 'reversal', 'return'];
export const TIMEOUT_MS = 5_000;

export const everyKind = (ending: string): Endings =>
  Object.fromEntries(KINDS.map((kind) => [kind, ending]));

/** The kinds for which a driver's simulator plays a part. */
export function kindsWith({ parts }: GatewayUnderTest, part: Part): GatewayPaymentKind[] {
  return KINDS.filter((kind) => parts[part]?.[kind] !== undefined);
}

/** A payment with what the gateway has called it. */
export interface Sent {
  request: SubmitRequest;
  externalRef: string | null;
}

/** A driver before its simulator, with a receiver of its callbacks. */
export class GatewayStage {
  readonly #subject: GatewayUnderTest;
  #simulator!: RunningSimulator;
  #receiver!: CallbackReceiver;
  gateway!: Gateway;

  constructor(subject: GatewayUnderTest) {
    this.#subject = subject;
  }

  async open(): Promise<void> {
    this.#simulator = await this.#subject.startSimulator();
    this.#receiver = await startCallbackReceiver();
    this.gateway = this.#subject.makeGateway(this.#simulator.url, TIMEOUT_MS);
  }

  async close(): Promise<void> {
    await this.#simulator.close();
    await this.#receiver.close();
  }

  get simulatorUrl(): string {
    return this.#simulator.url;
  }

  /** A payment of an account of its own. What is to be given back has been collected before. */
  async prepare(kind: GatewayPaymentKind, part: Part): Promise<SubmitRequest> {
    const account = newAccount(this.#subject.parts[part]![kind]!);
    const request = this.#withAddresses(aSubmission(kind, account));
    if (kind === 'collection' || kind === 'payout') return request;
    return { ...request, originalTransId: await this.#collectFrom(account) };
  }

  /** Sends a payment that the gateway acknowledges. */
  async send(kind: GatewayPaymentKind, part: Part): Promise<Sent> {
    const request = await this.prepare(kind, part);
    const result = await this.gateway.submit(request);
    if (result.outcome !== 'acknowledged') throw new Error(JSON.stringify(result));
    return { request, externalRef: result.externalRef };
  }

  countMovements = async (request: SubmitRequest): Promise<number> =>
    (await this.#simulator.receiptsOf(request)).length;

  /** What has come to one of the payment's addresses, as the driver reads it. */
  heard({ kind, reference }: SubmitRequest, address: CallbackAddress = 'result') {
    const bodies = this.#receiver.bodiesOf(reference, address);
    return bodies.map((body) => this.gateway.parseCallback(body, { address, kind }));
  }

  bodiesAt({ reference }: SubmitRequest, address: CallbackAddress = 'result'): string[] {
    return this.#receiver.bodiesOf(reference, address);
  }

  /** Waits for the payment's first callbacks. */
  async callbacks(request: SubmitRequest, count = 1): Promise<ParsedCallback[]> {
    const heard = await eventually(() => {
      const all = this.heard(request);
      return all.length >= count && all;
    });
    return heard.map((each) => each!);
  }

  /** Asks once. An answer that comes as a callback is waited for. */
  async ask(sent: Sent): Promise<Told> {
    const { request, externalRef } = sent;
    const before = this.#receiver.bodiesOf(request.reference, 'answer').length;
    const result = await this.gateway.query({
      ...this.#withAnswerAddress(request),
      externalRef,
    });
    if (result.outcome !== 'asked') return { result };
    const answer = await eventually(() => this.heard(request, 'answer')[before]);
    return { result, answer: answer! };
  }

  /** Asks until the gateway knows how the payment has ended. */
  learn(sent: Sent): Promise<News> {
    return eventually(async () => {
      const { result, answer } = await this.ask(sent);
      const news = answer?.verdict ?? (result as News);
      return (news.outcome === 'succeeded' || news.outcome === 'failed') && news;
    });
  }

  #withAddresses(request: SubmitRequest): SubmitRequest {
    const { reference } = request;
    const callbackUrl = this.#receiver.urlFor(reference);
    return { ...request, callbackUrl, timeoutUrl: this.#receiver.urlFor(reference, 'timeout') };
  }

  #withAnswerAddress(request: SubmitRequest): SubmitRequest {
    return { ...request, callbackUrl: this.#receiver.urlFor(request.reference, 'answer') };
  }

  /** Collects from an account, however often that must be tried. @returns the receipt */
  async #collectFrom(account: string): Promise<string> {
    const request = this.#withAddresses(aSubmission('collection', account));
    let result = await this.gateway.submit(request);
    while (result.outcome === 'notTaken') result = await this.gateway.submit(request);
    return eventually(async () => (await this.#simulator.receiptsOf(request))[0]);
  }
}

type News = ParsedCallback['verdict'];

/** The answer to a question, and the callback that follows if there is one. */
export interface Told {
  result: QueryResult;
  answer?: ParsedCallback;
}

const ACCOUNT_DIGITS = 5;
let accounts = 0;

function newAccount(ending: string): string {
  // A whole account plays its part itself.
  if (ending.startsWith('+')) return ending;
  accounts += 1;
  return `+2547${String(accounts).padStart(ACCOUNT_DIGITS, '0')}${ending}`;
}
