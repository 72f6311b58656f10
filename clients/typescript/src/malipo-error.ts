/** The codes of errors that the client itself makes. All others are the service's. */
export const NO_ANSWER = 'no_answer';
export const UNREADABLE_ANSWER = 'unreadable_answer';

/** What is known of a call over all of its tries. */
export interface Fate {
  idempotencyKey: string | undefined;
  /** A try ended without a clear answer, so it may have been done, whatever came of later tries. */
  mayBeDone: boolean;
}

interface Fields extends Partial<Fate> {
  status: number;
  code: string;
  detail: string;
  field?: string | undefined;
  requestId?: string | undefined;
}

/** A call that has failed. `code` is for programs, `detail` for people. */
export class MalipoError extends Error {
  override readonly name = 'MalipoError';
  /** Of HTTP, of the last try. 0 when no answer came. */
  readonly status: number;
  /** As in the table of errors at `/docs`, or `no_answer`, or `unreadable_answer`. */
  readonly code: string;
  readonly detail: string;
  /** The field, parameter or header to blame, if there is one. */
  readonly field: string | undefined;
  /** Names the request in the service's logs. Tell it to support. */
  readonly requestId: string | undefined;
  /** The key of the call. The same call with this key again cannot pay twice. */
  readonly idempotencyKey: string | undefined;
  /**
   * What the call asks for may have been done, whatever `code` says: a try of it ended without a
   * clear answer. If it pays, never send it with a new `ref_no`.
   */
  readonly mayBeDone: boolean;

  constructor(fields: Fields, options?: ErrorOptions) {
    const { status, code, detail, field, requestId, idempotencyKey, mayBeDone = false } = fields;
    const facts = [status || null, code, field, mayBeDone && 'may be done', requestId];
    super(`${detail} (${facts.filter(Boolean).join(', ')})`, options);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.field = field;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    this.mayBeDone = mayBeDone;
  }
}

/** Tells the caller of an error what is known of the whole call. */
export function withFate(error: unknown, fate: Fate): unknown {
  if (!(error instanceof MalipoError)) return error;
  return new MalipoError({ ...error, ...fate }, { cause: error.cause });
}

/** Tells whether an answer is a success that can be read. A proxy between may answer with a page. */
export function isSuccess({ ok, headers }: Response): boolean {
  return ok && headers.get('content-type')?.includes('json') === true;
}

/** Makes the error of an answer that is no success, or that no client can read. */
export async function errorOf(answer: Response): Promise<MalipoError> {
  const { status } = answer;
  const requestId = requestIdOf(answer);
  const { code, detail, field } = await bodyOf(answer);
  return new MalipoError({
    ...{ status, requestId, field },
    code: code ?? UNREADABLE_ANSWER,
    detail: detail ?? `The answer, with status ${status}, is not one of the service`,
  });
}

/** Returns the name of a request in the service's logs. Without it, a program between has answered. */
export function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** The fields of an error, or of tokens. */
type Body = Partial<Record<'code' | 'detail' | 'field' | 'access' | 'refresh', string>>;

/** Returns the fields of an answer. A proxy between may answer with anything. */
export async function bodyOf(answer: Response): Promise<Body> {
  try {
    return Object(await answer.clone().json());
  } catch {
    return {};
  }
}
