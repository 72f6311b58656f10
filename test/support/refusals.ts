import { expect } from 'chai';
import { type AnswerCode, ERROR_ANSWERS } from '../../src/api/error-answers.ts';
import type { Answer } from './api-client.ts';

/** Fails unless the answer is this refusal, with a code that has this status. */
export function expectRefusal(
  { status, body }: Pick<Answer, 'status' | 'body'>,
  expectedStatus: number,
  detail: string,
  blame: { code?: AnswerCode; field?: string } = {},
): void {
  expect([status, body.detail]).to.deep.equal([expectedStatus, detail]);
  const answer = ERROR_ANSWERS[body.code as AnswerCode];
  expect(answer?.status, `the status of the code ${body.code}`).to.equal(status);
  expect(body).to.include(blame);
}
