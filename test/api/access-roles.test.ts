import { expect } from 'chai';
import { BASE_PATH } from '../../src/api/context.ts';
import { endpoints } from '../../src/api/endpoints/endpoints.ts';
import type { Role } from '../../src/domain/merchants/user.ts';
import {
  type Answer,
  collectionBody,
  expectRefusal,
  payoutBody,
  request,
  reversalBody,
  type TestMerchant,
  useService,
} from '../support/world.ts';

const CALLERS = ['Admin', 'Finance', 'Operator', 'app'] as const;
const INSUFFICIENT = 'You do not have permission to access this resource';
const MISSING = 'Authentication credentials were not provided';

type EndpointId = keyof typeof endpoints;
const PUBLIC: EndpointId[] = [
  ...(['issueAppTokens', 'refreshTokens', 'logIn'] as const),
  ...(['setUpPassword', 'readSecret'] as const),
];

/** Who may call what, and what each comes to for a merchant that owns nothing yet. */
const MAY: Partial<Record<EndpointId, [callers: string, status: number, detail?: string]>> = {
  initiateCollection: ['Admin Finance app', 200],
  listCollections: ['Admin Finance Operator app', 200],
  getCollection: ['Admin Finance Operator app', 404, 'Transaction not found'],
  listCollectionsDeprecated: ['Admin Finance Operator app', 200],
  initiatePayout: ['Admin Finance app', 400, 'Insufficient balance in payout wallet'],
  listPayouts: ['Admin Finance Operator app', 200],
  listPayoutsDeprecated: ['Admin Finance Operator app', 200],
  getPayout: ['Admin Finance Operator app', 404, 'Transaction not found'],
  initiateReversal: ['Admin Finance app', 404, 'Transaction not found'],
  listReversals: ['Admin Finance Operator app', 200],
  getReversal: ['Admin Finance Operator app', 404, 'Transaction not found'],
  getBalance: ['Admin Finance app', 200],
  listTransactions: ['Admin Finance app', 200],
  createTransfer: ['Admin app', 400, 'Insufficient balance in collection wallet'],
  listChannels: ['Admin Finance Operator app', 200],
  listEvents: ['Admin Finance app', 200],
  listWebhooks: ['Admin Finance app', 200],
  getWebhook: ['Admin Finance app', 404, 'Webhook not found'],
  resendWebhook: ['Admin app', 404, 'Webhook not found'],
  recoverWebhooks: ['Admin app', 200],
  listWebhookEndpoints: ['Admin Finance app', 200],
  testWebhook: ['Admin app', 200],
  listSessions: ['Admin Finance Operator', 200],
  endSession: ['Admin Finance Operator', 404, 'Session not found'],
  changePassword: ['Admin Finance Operator', 401, 'Invalid credentials'],
  beginTotp: ['Admin Finance Operator', 401, 'Invalid credentials'],
  confirmTotp: ['Admin Finance Operator', 409, 'One-time passwords are not on'],
  disableTotp: ['Admin Finance Operator', 401, 'Invalid credentials'],
  replaceRecoveryCodes: ['Admin Finance Operator', 401, 'Invalid credentials'],
  releaseAccess: ['Admin', 401, 'Invalid credentials'],
  logOut: ['Admin Finance Operator app', 200],
};

const BODIES: Partial<Record<EndpointId, (merchant: TestMerchant) => unknown>> = {
  initiateCollection: () => collectionBody(),
  initiatePayout: (merchant) => payoutBody(merchant),
  initiateReversal: () => reversalBody('none'),
  createTransfer: () => ({ amount: '1.00', ref_no: 'T1' }),
  recoverWebhooks: () => ({ since: '2026-01-01T00:00:00Z' }),
  testWebhook: () => ({ callback_url: 'http://127.0.0.1:9/hook' }),
  changePassword: () => ({ old_password: 'wrong', new_password: 'another horse battery' }),
  beginTotp: () => ({ password: 'wrong' }),
  confirmTotp: () => ({ otp: '123456' }),
  disableTotp: () => ({ password: 'wrong', otp: '123456' }),
  replaceRecoveryCodes: () => ({ password: 'wrong', otp: '123456' }),
  releaseAccess: () => ({ password: 'wrong', app_code: 5001 }),
};

describe('Roles', () => {
  const service = useService({ merchant: 'all' });
  const tokens: Partial<Record<(typeof CALLERS)[number], string>> = {};

  before(async () => {
    tokens.app = service.merchant.access;
    for (const role of ['Admin', 'Finance', 'Operator'] satisfies Role[]) {
      tokens[role] = (await service.newUser(role)).access;
    }
  });

  function call(id: EndpointId, access?: string): Promise<Answer> {
    const { method, path } = endpoints[id];
    const place = path.replace(/\{\w+\}/g, crypto.randomUUID());
    return request(method.toUpperCase(), `${service.origin}${BASE_PATH}${place}`, {
      ...(access ? { access } : {}),
      ...(method === 'post' ? { body: BODIES[id]?.(service.merchant) } : {}),
    });
  }

  // Logging out comes last, because it ends the tokens.
  const ids = Object.keys(endpoints) as EndpointId[];
  for (const id of ids.sort((a, b) => Number(a === 'logOut') - Number(b === 'logOut'))) {
    if (PUBLIC.includes(id)) continue;

    it(`are known for ${id}, which needs a token`, async () => {
      expect(MAY).to.have.property(id);
      expectRefusal(await call(id), 401, MISSING);
    });

    for (const caller of CALLERS) {
      const [callers, status, detail] = MAY[id] ?? ['', 0];
      const may = callers.split(' ').includes(caller);
      it(`${may ? 'let' : 'do not let'} ${caller} call ${id}`, async () => {
        const answer = await call(id, tokens[caller]!);
        if (!may) expectRefusal(answer, 403, INSUFFICIENT);
        else if (detail) expectRefusal(answer, status, detail);
        else expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      });
    }
  }

  it('count as they are now, not as they were at log-in', async () => {
    const admin = await service.newUser('Admin');
    const url = `${service.baseUrl}/wallets/balance`;
    expect((await request('GET', url, { access: admin.access })).status).to.equal(200);
    await service.database.raw(`UPDATE users SET role = 'Operator' WHERE id = ?`, [admin.userId]);
    expectRefusal(await request('GET', url, { access: admin.access }), 403, INSUFFICIENT);
  });
});
