import { expect } from 'chai';
import { BASIC, type Caller, PATHS, SHORT_CODE, startCaller } from './daraja-caller.ts';

const TOKEN_PATH = '/oauth/v1/generate?grant_type=client_credentials';
const ASKED = { IdentifierType: '4', Identifier: SHORT_CODE };

describe('Daraja simulator: access tokens', () => {
  let caller: Caller;
  afterEach(() => caller.close());

  const statusWith = async (token: string) =>
    (await caller.post(PATHS.organization, ASKED, token)).status;

  it('issues a token of 28 characters with its lifetime as text', async () => {
    caller = await startCaller();
    const { status, body } = await caller.call('GET', TOKEN_PATH, undefined, {
      authorization: BASIC,
    });
    expect(status).to.equal(200);
    expect(body.access_token).to.match(/^\S{28}$/);
    expect(body.expires_in).to.equal('3599');
  });

  it('ends the token before, at once or after an overlap', async () => {
    caller = await startCaller();
    const first = await caller.renewToken();
    expect(await statusWith(first)).to.equal(200);
    const second = await caller.renewToken();
    expect([await statusWith(first), await statusWith(second)]).to.deep.equal([401, 200]);
    await caller.close();
    caller = await startCaller({ tokenOverlapS: 60 });
    const third = await caller.renewToken();
    await caller.renewToken();
    expect(await statusWith(third)).to.equal(200);
  });

  it('refuses a token after its lifetime', async () => {
    caller = await startCaller({ tokenLifetimeS: 0 });
    expect(await statusWith(await caller.renewToken())).to.equal(401);
  });

  it('refuses a missing header, another app and another grant', async () => {
    caller = await startCaller({ consumerKey: 'key', consumerSecret: 'secret' });
    const other = `Basic ${Buffer.from('key:other').toString('base64')}`;
    for (const [path, authorization, errorCode] of [
      [TOKEN_PATH, undefined, '400.008.01'],
      [TOKEN_PATH, 'Bearer x', '400.008.01'],
      [TOKEN_PATH, other, '400.008.01'],
      ['/oauth/v1/generate', BASIC, '400.008.02'],
    ] as const) {
      const headers = authorization ? { authorization } : {};
      const answer = await caller.call('GET', path, undefined, headers);
      expect(answer.status).to.equal(400);
      expect(answer.body).to.include({ errorCode });
    }
  });

  it('has a code of its own in each product for a token that is not valid', async () => {
    caller = await startCaller();
    for (const [product, status, errorCode] of [
      ['stkPush', 404, '404.001.03'],
      ['stkQuery', 404, '404.001.03'],
      ['reversal', 404, '404.001.03'],
      ['b2c', 401, '401.002.01'],
      ['accountBalance', 401, '401.002.01'],
      ['transactionStatus', 400, '400.003.01'],
      ['pullQuery', 401, '401.001'],
      ['pullRegister', 401, '401.001'],
      ['organization', 401, '401.003.01'],
    ] as const) {
      const answer = await caller.post(PATHS[product], {}, 'stale');
      expect(answer.status, product).to.equal(status);
      expect(answer.body, product).to.include({ errorCode });
      expect(answer.body).to.have.keys('requestId', 'errorCode', 'errorMessage');
      const without = await caller.call('POST', PATHS[product], {});
      expect(without.body).to.include({ errorCode: '404.001.04' });
    }
  });
});
