import type { ErrorCode } from '../../domain/errors.ts';

/** The code of every error that the API answers with. */
export type AnswerCode = ErrorCode | 'internal_error' | 'request_timeout' | 'headers_too_large';

/** An error as a caller sees it. `{subject}` stands for the subject of the refusal. */
export interface ErrorAnswer {
  status: number;
  /** The text of the specification, which never changes. */
  detail: string;
  /** The field, parameter or header to blame, if there is one. */
  field?: string;
  /** The meaning of the code, for the documentation. */
  meaning: string;
  /** The advice to the caller, for the documentation. */
  remedy: string;
}
