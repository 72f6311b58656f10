import { ACCESS } from './error-answers/access.ts';
import type { AnswerCode, ErrorAnswer } from './error-answers/answer.ts';
import { INPUT } from './error-answers/input.ts';
import { OTHER } from './error-answers/other.ts';

export type { AnswerCode };

/**
 * Every code with its answer, by status. The documentation is made from it. A new code does not
 * compile without its row.
 */
export const ERROR_ANSWERS: Readonly<Record<AnswerCode, ErrorAnswer>> = {
  ...INPUT,
  ...ACCESS,
  ...OTHER,
};

/** Returns the body of an error: the specified `detail`, its `code`, and `field` if one is to blame. */
export function errorBody(code: AnswerCode, subject = '') {
  const { detail, field = '' } = ERROR_ANSWERS[code];
  const fill = (text: string) => text.split('{subject}').join(subject);
  const blamed = fill(field);
  return { detail: fill(detail), code, ...(blamed && { field: blamed }) };
}
