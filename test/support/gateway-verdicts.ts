import { expect } from 'chai';
import type { CallbackNews, Failed, SubmitRequest, Succeeded } from '../../src/gateways/gateway.ts';

/** Expects a success that says nothing else than what was asked for. */
export function expectSuccess(news: CallbackNews, request: SubmitRequest): Succeeded {
  if (news.outcome !== 'succeeded') throw new Error(JSON.stringify(news));
  expect(news.amountCents).to.be.oneOf([request.amountCents, null]);
  expect(news.account).to.be.oneOf([request.account, null]);
  if (news.transId !== null) expect(news.transId).to.match(/^[A-Z0-9]{10}$/);
  if (news.completedAt !== null) expect(news.completedAt.getTime()).to.be.at.most(Date.now());
  return news;
}

/** Expects a definite failure with a code of its own. */
export function expectFailure(news: CallbackNews): Failed {
  if (news.outcome !== 'failed') throw new Error(JSON.stringify(news));
  expect(news.code).to.not.equal(0);
  expect(news.description).to.be.a('string').that.is.not.empty;
  return news;
}
