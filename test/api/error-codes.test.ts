import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createApp } from '../../src/api/app.ts';
import { type AnswerCode, ERROR_ANSWERS } from '../../src/api/error-answers.ts';
import { unreadableHandler } from '../../src/api/errors.ts';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import type { Service } from '../../src/service/service.ts';
import type { assign } from '../support/assignments.ts';
import { startFakeMerchant } from '../support/fake-merchant.ts';
import { enableTotp, wrongOtpOf } from '../support/totp.ts';
import {
  type Answer,
  collectionBody,
  eventually,
  payoutBody,
  request,
  reversalBody,
  reversalRequest,
  succeeded,
  useService,
} from '../support/world.ts';

const MPESA = 63902;
const RICH_CENTS = 1_000_000;
const MAX_BODY_BYTES = 64 * 1_024;
const NOWHERE = 'postgres://malipo:none@127.0.0.1:9/malipo';
const TEST = '/webhooks/test';
const NO_RECEIVER = 'http://127.0.0.1:9/hook';
const [COLLECT, PAY, REVERSE] = ['collections/checkouts', 'payouts', 'reversals'].map(
  (path) => `/${path}/initiate`,
) as [string, string, string];

interface Sending {
  access?: string;
  key?: string;
  headers?: Record<string, string>;
}

describe('Every code of an error', () => {
  const env = {
    CHANNELS: `${MPESA}=simulator,68=simulator`,
    REVERSAL_WAIT_MS: '100',
    TRUST_PROXY: 'loopback',
  };
  const service = useService({ env });
  const servers: Server[] = [];

  after(async () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });

  beforeEach(async () => {
    await service.topUp(RICH_CENTS, 'T1');
  });

  const post = (path: string, body: unknown, { access, key, headers }: Sending = {}) =>
    request('POST', `${service.baseUrl}${path}`, {
      access: access ?? service.merchant.access,
      body,
      headers: { ...headers, ...(key ? { 'idempotency-key': key } : {}) },
    });
  const get = (path: string, access = service.merchant.access) =>
    request('GET', `${service.baseUrl}${path}`, { access });
  const collect = (fields: object = {}, sending: Sending = {}) =>
    post(COLLECT, collectionBody({ ...fields }), sending);
  const pay = (fields: object = {}, sending: Sending = {}) =>
    post(PAY, payoutBody(service.merchant, { ...fields }), sending);
  const getToken = (fields: object = {}) =>
    post('/auth/app/token', {
      app_key: service.merchant.app_key,
      app_secret: service.merchant.app_secret,
      ...fields,
    });
  const set = (table: Parameters<typeof assign>[2], assignment: string) =>
    service.assign(table, assignment);
  const person = (role: 'Admin' | 'Operator' = 'Admin') => service.newUser(role);
  const paid = (receipt?: null) => service.newCompletedCollection(receipt);

  /** The API in another condition. */
  async function elsewhere(changes: Partial<Service>): Promise<string> {
    const server = createServer(createApp({ ...service, ...changes }));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  }

  async function onDatabase(url: string): Promise<Answer> {
    const database = openDatabase(url, 1, 'malipo-test-elsewhere');
    try {
      const base = await elsewhere({ database });
      return await request('GET', `${base}/channels`, { access: service.merchant.access });
    } finally {
      await database.destroy();
    }
  }

  async function reversed(state: 'open' | 'done'): Promise<Answer> {
    const collection = await paid();
    const reversal = await createReversal(service.database, reversalRequest(collection));
    if (state === 'done') await service.learn(reversal, succeeded());
    return post(REVERSE, reversalBody(collection.ref_no));
  }

  async function whileKeyIsLocked(): Promise<Answer> {
    const name = `idempotency ${service.merchantId} ${COLLECT} k`;
    return service.transaction(async (trx) => {
      await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))', { name });
      return collect({}, { key: 'k' });
    });
  }

  async function whileTesting(): Promise<Answer> {
    const shop = await startFakeMerchant();
    try {
      let answer = (_status: number) => {};
      shop.answerWith(
        () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      );
      const first = post(TEST, { callback_url: shop.url });
      await eventually('the first test', async () => shop.received.length === 1);
      const second = await post(TEST, { callback_url: shop.url });
      answer(200);
      await first;
      return second;
    } finally {
      await shop.close();
    }
  }

  async function whilePaused(): Promise<Answer> {
    await service.transaction((trx) => pauseChannel(trx, MPESA));
    try {
      return await collect();
    } finally {
      await service.transaction((trx) => resumeChannel(trx, MPESA));
    }
  }

  async function expiredRefresh(): Promise<Answer> {
    const { refresh } = await person();
    const { exp: _exp, iat: _iat, ...claims } = jwt.decode(refresh) as jwt.JwtPayload;
    const { id, secret } = service.config.jwtKeys.current;
    const options = { algorithm: 'HS256', keyid: id, expiresIn: -1 } as const;
    return post('/auth/refresh', { refresh: jwt.sign(claims, secret, options) });
  }

  /** What a server that soon loses patience answers to these bytes. */
  async function unread(bytes: string): Promise<Pick<Answer, 'status' | 'body'>> {
    const options = { headersTimeout: 50, connectionsCheckingInterval: 10 };
    const server = createServer(options).on('clientError', unreadableHandler(new Set()));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
  }

  /** Whole shillings from 10 to 20. */
  const narrow = { minCents: 10_00, maxCents: 20_00, stepCents: 100 };
  const collectNarrowly = async (amount: string) => {
    const route = { collection: { gateway: 'simulator', amounts: narrow } };
    const origin = await elsewhere({ channels: new Map([[MPESA, route]]) });
    const { access } = service.merchant;
    return request('POST', `${origin}${COLLECT}`, { access, body: collectionBody({ amount }) });
  };
  const overHttps = () => elsewhere({ config: { ...service.config, requireHttps: true } });
  const twice = async (send: () => Promise<Answer>) => {
    await send();
    return send();
  };

  /** A way to each code, with the field that is to blame. */
  const WAYS: Record<
    AnswerCode,
    [field: string | null, provoke: () => Promise<Pick<Answer, 'status' | 'body'>>]
  > = {
    invalid_request: [null, () => post(COLLECT, '[]')],
    body_not_json: [null, () => post(COLLECT, '{')],
    field_required: ['amount', () => collect({ amount: null })],
    invalid_field: ['ref_no', () => collect({ ref_no: 'a b' })],
    invalid_query: ['page', () => get('/payouts?page=0')],
    invalid_phone_number: ['payfrom', () => collect({ payfrom: '+254744123456' })],
    invalid_amount: ['amount', () => collect({ amount: '1.5' })],
    amount_too_small: ['amount', () => collect({ amount: '0.99' })],
    amount_too_large: ['amount', () => pay({ amount: '1000000.00' })],
    amount_not_whole: ['amount', () => collectNarrowly('10.50')],
    amount_below_channel: ['amount', () => collectNarrowly('9.00')],
    amount_above_channel: ['amount', () => collectNarrowly('21.00')],
    amount_not_of_collection: [
      'amount',
      async () => post(REVERSE, reversalBody((await paid()).ref_no, { amount: '5.00' })),
    ],
    invalid_channel: ['channel', () => pay({ channel: 4_711 })],
    channel_required: ['channel', () => pay({ payto: '0110123456789' })],
    channel_not_available: [null, () => pay({ channel: 63903 })],
    insufficient_balance: [null, () => pay({ amount: '999999.99' })],
    collection_not_completed: [
      'checkout_ref_no',
      async () => post(REVERSE, reversalBody((await collect()).body.ref_no)),
    ],
    credentials_missing: ['Authorization', () => request('GET', `${service.baseUrl}/channels`)],
    invalid_token_format: [
      'Authorization',
      () =>
        request('GET', `${service.baseUrl}/channels`, { headers: { authorization: 'Basic x' } }),
    ],
    invalid_token: ['Authorization', () => get('/channels', 'wrong')],
    token_revoked: [
      'Authorization',
      async () => {
        await set('token_families', 'revoked_at = now()');
        return get('/channels');
      },
    ],
    refresh_expired: ['refresh', expiredRefresh],
    invalid_set_up_code: [null, () => post('/auth/set-up/secret', { code: 'spent' })],
    invalid_app_credentials: [null, () => getToken({ app_secret: 'wrong' })],
    invalid_credentials: [
      null,
      () => post('/auth/login', { email: 'nobody@test.example', password: 'wrong' }),
    ],
    otp_required: [
      'otp',
      async () => {
        const user = await person();
        await enableTotp(service, service.merchantId, user);
        return post('/auth/login', { email: user.email, password: user.password });
      },
    ],
    invalid_otp: [
      'otp',
      async () => {
        const user = await person();
        const otp = wrongOtpOf(await enableTotp(service, service.merchantId, user));
        return post('/auth/login', { email: user.email, password: user.password, otp });
      },
    ],
    https_required: [null, async () => request('GET', `${await overHttps()}/channels`)],
    ip_not_allowed: [
      null,
      async () => {
        await set('apps', `ip_allow_list = '{203.0.113.7}'`);
        return getToken();
      },
    ],
    merchant_inactive: [
      null,
      async () => {
        await set('merchants', 'active = false');
        return get('/channels');
      },
    ],
    app_inactive: [
      null,
      async () => {
        await set('apps', 'active = false');
        return get('/channels');
      },
    ],
    role_insufficient: [null, async () => collect({}, await person('Operator'))],
    otp_login_required: [
      null,
      async () => {
        await set('merchants', `totp_required_for = '{payouts}'`);
        return pay({}, await person());
      },
    ],
    access_too_new: [
      null,
      async () => {
        await set('app_secrets', `outgoing_from = now() + interval '1 hour'`);
        return pay();
      },
    ],
    password_change_required: [
      null,
      async () => {
        const { access } = await person();
        await set('users', 'must_change_password = true');
        return get('/channels', access);
      },
    ],
    merchant_not_approved: [
      null,
      async () => {
        await set('merchants', 'approved = false');
        return collect();
      },
    ],
    product_missing: [
      null,
      async () => {
        await set('apps', `products = '{}'`);
        return collect();
      },
    ],
    wallet_missing: [
      null,
      async () => {
        const bare = await service.newMerchant();
        const bindings = { id: bare.merchant_id };
        await rows(service.owner, 'DELETE FROM wallets WHERE merchant_id = :id', bindings);
        return get('/wallets/balance', bare.access);
      },
    ],
    app_not_found: ['app_code', () => pay({ app_code: 1 })],
    transaction_not_found: ['checkout_ref_no', () => post(REVERSE, reversalBody('nothing'))],
    session_not_found: [
      null,
      async () => {
        const { access } = await person();
        return request('DELETE', `${service.baseUrl}/auth/sessions/x`, { access });
      },
    ],
    totp_enabled: [
      null,
      async () => {
        const user = await person();
        await enableTotp(service, service.merchantId, user);
        return post('/auth/totp', { password: user.password }, user);
      },
    ],
    totp_not_enabled: [
      null,
      async () => post('/auth/totp/confirm', { otp: '123456' }, await person()),
    ],
    path_not_found: [null, () => get('/nothing')],
    method_not_allowed: [null, () => get('/auth/login')],
    duplicate_ref_no: ['ref_no', () => twice(() => collect({ ref_no: 'same' }))],
    reversal_done: ['checkout_ref_no', () => reversed('done')],
    reversal_in_progress: ['checkout_ref_no', () => reversed('open')],
    request_timeout: [null, () => unread('GET / HTTP/1.1\r\nHost')],
    headers_too_large: [null, () => unread(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`)],
    webhook_not_found: [null, () => get(`/webhooks/deliveries/${crypto.randomUUID()}`)],
    webhook_test_running: [null, whileTesting],
    signing_secret_missing: [
      'app_code',
      async () => {
        await set('apps', `signs_webhooks_with = 'own'`);
        return post(TEST, { callback_url: NO_RECEIVER });
      },
    ],
    idempotency_key_running: ['Idempotency-Key', whileKeyIsLocked],
    body_too_large: [null, () => collect({ account_number: 'x'.repeat(MAX_BODY_BYTES) })],
    media_type_unsupported: [
      null,
      () => post(COLLECT, 'x', { headers: { 'content-type': 'text/plain' } }),
    ],
    idempotency_key_reused: ['Idempotency-Key', () => twice(() => collect({}, { key: 'k' }))],
    rate_limited: [
      null,
      async () => {
        await set('merchants', 'rate_limit_per_minute = 1, rate_limit_burst = 1');
        return twice(() => get('/channels'));
      },
    ],
    internal_error: [
      null,
      () => {
        // It has none of the tables.
        const empty = new URL(service.config.databaseUrl);
        empty.pathname = '/postgres';
        return onDatabase(empty.href);
      },
    ],
    gateway_unreachable: [null, async () => post(REVERSE, reversalBody((await paid()).ref_no))],
    channel_paused: [null, whilePaused],
    unavailable: [null, () => onDatabase(NOWHERE)],
  };

  for (const [code, [field, provoke]] of Object.entries(WAYS)) {
    it(`${code} is answered, ${field ? `for ${field}` : 'for no field'}`, async () => {
      const { status, body } = await provoke();
      const { detail, ...rest } = body;
      expect(rest, detail).to.deep.equal({ code, ...(field ? { field } : {}) });
      expect(status).to.equal(ERROR_ANSWERS[code as AnswerCode].status);
    });
  }

  it('is described in the documentation, with its status', async () => {
    const { body: document } = await request('GET', `${service.origin}/openapi.json`);
    // What the reference shows.
    const { description: shown, properties } = document.components.schemas.Error;
    const { type, enum: closed, ...described } = properties.code;
    const meanings = described['x-enumDescriptions'];
    // A client that is made from the document must take a code that is added.
    expect([type, closed]).to.deep.equal(['string', undefined]);
    expect(Object.keys(meanings)).to.have.members(Object.keys(WAYS));
    for (const code of Object.keys(meanings) as AnswerCode[]) {
      expect(meanings[code]).to.match(new RegExp(`^${ERROR_ANSWERS[code].status}\\. \\w`));
      expect(shown).to.include(`- \`${code}\` (${ERROR_ANSWERS[code].status}): `);
    }
  });
});
