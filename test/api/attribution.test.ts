import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type Asker, NOBODY } from '../../src/domain/access/asker.ts';
import { type Document, runHere } from '../support/admin.ts';
import { createTestUser } from '../support/test-merchant.ts';
import { startTestService } from '../support/test-service.ts';
import {
  type Client,
  clientOf,
  expectRefusal,
  payoutBody,
  reversalBody,
  type TestUser,
  useService,
} from '../support/world.ts';

const FUNDS_CENTS = 1_000_000;
/** Behind the proxy, which is on the loopback. */
const ADDRESS = '203.0.113.7';
const REQUEST_ID = 'order-4711';
const FROM: Record<string, string> = { 'x-forwarded-for': ADDRESS, 'x-request-id': REQUEST_ID };
const TABLES = ['collections', 'payouts', 'reversals', 'transfers'] as const;
type Table = (typeof TABLES)[number];
/** Where each can be read by itself. */
const DETAILS = {
  collections: '/collections/checkouts',
  payouts: '/payouts',
  reversals: '/reversals',
} as const;

describe('Who asked for a payment', () => {
  // Nobody submits, so a request for a reversal would wait in vain.
  const env = { TRUST_PROXY: 'loopback', REVERSAL_WAIT_MS: '0' };
  const service = useService({ env, merchant: 'all' });
  let admin: TestUser;
  let finance: TestUser;
  let count = 0;

  before(async () => {
    await service.topUp(FUNDS_CENTS, 'T1');
    admin = await service.newUser('Admin');
    finance = await service.newUser('Finance');
    const name = { name: 'Wanjiru', id: finance.userId };
    await service.rewrite('UPDATE users SET name = :name WHERE id = :id', name);
  });

  /** Asks for one of a kind. @returns its reference. */
  async function ask(table: Table, caller: { access: string }, headers = FROM): Promise<string> {
    count += 1;
    const ref_no = `asked-${count}`;
    const { initiate, post } = service.clientOf(caller);
    const asking = {
      collections: () => initiate({ ref_no }, headers),
      payouts: () => post('/payouts/initiate', payoutBody(service.merchant, { ref_no }), headers),
      reversals: async () => {
        const paid = await service.newCompletedCollection();
        return post('/reversals/initiate', reversalBody(paid.ref_no, { ref_no }), headers);
      },
      transfers: async () => {
        await service.newCompletedCollection();
        return post('/wallets/transfers', { amount: '1.00', ref_no }, headers);
      },
    };
    const { status } = await asking[table]();
    expect(status).to.equal(table === 'reversals' ? 502 : 200);
    return ref_no;
  }

  async function stored(table: Table | 'returns', where: object): Promise<Asker | undefined> {
    const conditions = Object.keys(where).map((column) => `${column} = :${column}`);
    return service.firstRow<Asker>(
      `SELECT asked_family, asked_app, asked_user, asked_ip, asked_request FROM ${table}
       WHERE merchant_id = :merchant_id AND ${conditions.join(' AND ')}`,
      { merchant_id: service.merchantId, ...where },
    );
  }

  const familyOf = ({ access }: { access: string }) => (jwt.decode(access) as { fam: string }).fam;
  const ofUser = (user: TestUser): Asker => ({
    asked_family: familyOf(user),
    asked_app: null,
    asked_user: user.userId,
    asked_ip: ADDRESS,
    asked_request: REQUEST_ID,
  });
  const ofApp = (app: { access: string; app_code: number }): Asker => ({
    asked_family: familyOf(app),
    asked_app: app.app_code,
    asked_user: null,
    asked_ip: ADDRESS,
    asked_request: REQUEST_ID,
  });
  const placeOf = async (table: keyof typeof DETAILS, ref_no: string) => {
    const sql = `SELECT id FROM ${table} WHERE merchant_id = :merchant_id AND ref_no = :ref_no`;
    const row = await service.firstRow<{ id: string }>(sql, { ...service.merchant, ref_no });
    return `${DETAILS[table]}/${table === 'reversals' ? ref_no : row!.id}`;
  };

  for (const table of TABLES) {
    it(`is stored in ${table}: the user or the app, the family of the token and the address`, async () => {
      const user = table === 'transfers' ? admin : finance;
      const byUser = await ask(table, user);
      expect(await stored(table, { ref_no: byUser })).to.deep.equal(ofUser(user));
      const byApp = await ask(table, service.merchant);
      expect(await stored(table, { ref_no: byApp })).to.deep.equal(ofApp(service.merchant));
    });
  }

  it('is the app of the token, also when another app is booked on', async () => {
    const other = await service.newApp(['payouts']);
    const ref_no = await ask('payouts', other);
    expect(await stored('payouts', { ref_no })).to.deep.equal(ofApp(other));
    expect(await stored('payouts', { ref_no, app_code: service.merchant.app_code })).to.not.equal(
      undefined,
    );
  });

  it('came from the nearest address that is not a trusted proxy’s', async () => {
    for (const [forwarded, asked_ip] of [
      ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['2001:db8::9', '2001:db8::9'],
      ['nonsense', null],
    ] as const) {
      const ref_no = await ask('payouts', finance, { 'x-forwarded-for': forwarded });
      expect(await stored('payouts', { ref_no }), forwarded).to.include({ asked_ip });
    }
    const direct = await startTestService({ workers: [], beside: service });
    try {
      const { post } = clientOf(direct, finance);
      const { body } = await post('/payouts/initiate', payoutBody(service.merchant), FROM);
      expect(await stored('payouts', { id: body.id })).to.include({ asked_ip: '127.0.0.1' });
    } finally {
      await direct.close();
    }
  });

  it('stays the first one when the request is repeated by its key', async () => {
    const key = { 'idempotency-key': 'k1' };
    const body = payoutBody(service.merchant, { ref_no: 'repeated' });
    await service.clientOf(finance).post('/payouts/initiate', body, { ...FROM, ...key });
    const again = await service.client.post('/payouts/initiate', body, key);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(await stored('payouts', { ref_no: 'repeated' })).to.deep.equal(ofUser(finance));
  });

  it('is nobody for a return', async () => {
    const { id } = await service.newReturn();
    expect(await stored('returns', { id })).to.deep.equal(NOBODY);
  });

  for (const table of ['collections', 'payouts', 'reversals'] as const) {
    it(`is in the detail of ${table} for the role Admin, and for nobody else`, async () => {
      const created_by = async (client: Client, place: string) => {
        const { status, body } = await client.get(place);
        expect(status).to.equal(200);
        return body.created_by;
      };
      const places = {
        [finance.email]: await placeOf(table, await ask(table, finance)),
        app: await placeOf(table, await ask(table, service.merchant)),
      };
      const operator = await service.newUser('Operator');
      const stranger = await service.newMerchant();
      const theirs = await createTestUser(service, stranger.merchant_id, 'Admin');
      for (const [name, place] of Object.entries(places)) {
        expect(await created_by(service.clientOf(admin), place)).to.equal(name);
        for (const caller of [finance, operator, service.merchant]) {
          expect(await created_by(service.clientOf(caller), place)).to.equal(undefined);
        }
        const answer = await service.clientOf(theirs).get(place);
        expectRefusal(answer, 404, 'Transaction not found');
      }
      const { body } = await service.clientOf(admin).get(DETAILS[table]);
      for (const listed of body.results) expect(listed).to.not.have.property('created_by');
    });
  }

  it('is shown to support, with the names of the user or of the app', async () => {
    const show = async (ref_no: string) => {
      const { data, lines } = await runHere(service, `payment show ${ref_no} --kind payout`);
      return { payment: (data as { payment: Document }).payment, text: lines.join('\n') };
    };
    const byUser = await show(await ask('payouts', finance));
    const words = `user ${finance.email} (Wanjiru)`;
    expect(byUser.payment).to.include({
      ...ofUser(finance),
      asked_by: words,
      asked_user_email: finance.email,
      asked_user_name: 'Wanjiru',
      asked_app_name: null,
    });
    expect(byUser.text)
      .to.include(words)
      .and.to.match(/^ {2}asked ip +203\.0\.113\.7$/m);
    const byApp = await show(await ask('payouts', service.merchant));
    expect(byApp.payment).to.include({
      ...ofApp(service.merchant),
      asked_by: `app ${service.merchant.app_code} (Till)`,
      asked_app_name: 'Till',
    });
  });
});
