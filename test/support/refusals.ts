import { expect } from 'chai';
import type { Answer } from './api-client.ts';

/** Fails unless the answer is exactly this refusal. */
export function expectRefusal(answer: Answer, status: number, detail: string): void {
  expect([answer.status, answer.body]).to.deep.equal([status, { detail }]);
}
