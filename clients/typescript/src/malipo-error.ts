/** The codes of errors that the client itself makes. All others are the service's. */
export const NO_ANSWER = 'no_answer';
export const UNREADABLE_ANSWER = 'unreadable_answer';

interface Fields {
  status: number;
  code: string;
  detail: string;
  field?: string | undefined;
  requestId?: string | undefined;
  idempotencyKey?: string | undefined;
}

/** A call that has failed. `code` is for programs, `detail` for people. */
export class MalipoError extends Error {
  override readonly name = 'MalipoError';
  /** Of HTTP. 0 when no answer came: then the operation may have been done. */
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

  constructor(fields: Fields, options?: ErrorOptions) {
    const { status, code, detail, field, requestId, idempotencyKey } = fields;
    super(
      `${detail} (${[status || null, code, field, requestId].filter(Boolean).join(', ')})`,
      options,
    );
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.field = field;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
  }
}

/** Tells whether an answer is a success that can be read. A proxy between may answer with a page. */
export function isSuccess({ ok, headers }: Response): boolean {
  return ok && headers.get('content-type')?.includes('json') === true;
}

/** Makes the error of an answer that is no success, or that no client can read. */
export async function errorOf(answer: Response, idempotencyKey?: string): Promise<MalipoError> {
  const { status, headers } = answer;
  const requestId = headers.get('x-request-id') ?? undefined;
  const { code, detail, field } = await bodyOf(answer);
  return new MalipoError({
    ...{ status, requestId, idempotencyKey, field },
    code: code ?? UNREADABLE_ANSWER,
    detail: detail ?? `The answer, with status ${status}, is not one of the service`,
  });
}

/** Returns the fields of an error. A proxy between may answer with anything. */
export async function bodyOf(
  answer: Response,
): Promise<{ code?: string; detail?: string; field?: string }> {
  try {
    return Object(await answer.clone().json());
  } catch {
    return {};
  }
}
