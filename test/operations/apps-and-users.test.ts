import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { accountHashes, countFailures } from '../../src/domain/credentials/log-in-limit.ts';
import { isPassword } from '../../src/domain/credentials/passwords.ts';
import { listApps, newestAppOf, requireApp } from '../../src/domain/merchants/app.ts';
import { listMerchants } from '../../src/domain/merchants/merchant.ts';
import { listUsers, passwordHashOf, requireUser } from '../../src/domain/merchants/user.ts';
import { runAdmin } from '../support/admin-runs.ts';
import { rejection } from '../support/payments.ts';
import { createTestMerchant, createTestUser, type TestMerchant } from '../support/test-merchant.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  openDoors,
} from './doors.ts';

/** What differs between the changes of a noun. */
interface Change {
  verb: string;
  /** The page of the console. Default: that of the verb. */
  page?: string;
  options?: string[];
  form?: Record<string, string>;
  role?: 'admin' | 'support';
  /** SQL: the thing is like that before. */
  before?: string;
  becomes: object;
}

describe('Operations on apps and users at both doors', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors();
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;
  const newMerchant = () => createTestMerchant(doors.test.service);
  const pageOf = ({ merchant_id }: { merchant_id: number }) => `/merchants/${merchant_id}`;
  const prove = <Thing>(one: DoorCase<Thing>) => {
    it(`${one.name}: has one effect, and one line in the audit log`, () =>
      expectSameAtBothDoors(doors, one));

    it(`${one.name}: refuses a lower role, and a change without a reason`, () =>
      expectRefusedAtBothDoors(doors, one));
  };

  const page = { after: undefined, limit: 9 };

  describe('app', () => {
    const namesOf = async ({ merchant_id }: TestMerchant) => ({
      MERCHANT: String(merchant_id),
      APP: String(await newestAppOf(database(), merchant_id)),
    });

    prove<TestMerchant>({
      name: 'app create',
      make: newMerchant,
      role: 'admin',
      command: ({ merchant_id }) => [
        ...['app', 'create', '--merchant', String(merchant_id), '--name', 'Kiosk'],
        ...['--products', 'payouts'],
      ],
      page: (merchant) => `${pageOf(merchant)}/new-app`,
      form: () => ({ name: 'Kiosk', products_payouts: 'on', ip_allow_list: 'none' }),
      effect: async ({ merchant_id }) => {
        const [, ...made] = await listApps(database(), { merchant_id, ...page });
        return { made: made.map(({ name, products }) => ({ name, products })) };
      },
      becomes: { made: [{ name: 'Kiosk', products: ['payouts'] }] },
      names: namesOf,
    });

    const secretsOf = async (table: string, merchant: TestMerchant) => {
      const valid = `SELECT FROM ${table}
        WHERE app_code = :app_code AND coalesce(expires_at > now(), true)`;
      return (await rows(database(), valid, merchant)).length;
    };

    const CHANGES: Change[] = [
      {
        verb: 'update',
        options: ['--name', 'Till 2', '--products', 'payouts', '--ip-allow-list', '10.1.2.3'],
        form: { name: 'Till 2', products_payouts: 'on', ip_allow_list: '10.1.2.3' },
        becomes: { name: 'Till 2', products: ['payouts'], ip_allow_list: ['10.1.2.3'] },
      },
      {
        verb: 'update',
        page: 'own-webhook-secret',
        options: ['--webhook-secret', 'own'],
        becomes: { signs_webhooks_with: 'own', own_secrets: 1 },
      },
      {
        verb: 'update',
        page: 'app-webhook-secret',
        options: ['--webhook-secret', 'app'],
        before: "signs_webhooks_with = 'own'",
        becomes: { signs_webhooks_with: 'app', own_secrets: 0 },
      },
      { verb: 'suspend', becomes: { active: false } },
      { verb: 'activate', before: 'active = false', becomes: { active: true } },
      {
        verb: 'rotate-secret',
        options: ['--overlap', '24h'],
        form: { overlap: '24h' },
        becomes: { app_secrets: 2 },
      },
      {
        verb: 'rotate-webhook-secret',
        options: ['--overlap', '0'],
        form: { overlap: '0' },
        before: "signs_webhooks_with = 'own'",
        becomes: { app_secrets: 1, own_secrets: 1 },
      },
    ];
    for (const { verb, options = [], ...change } of CHANGES) {
      prove<TestMerchant>({
        name: ['app', verb, ...options].join(' '),
        make: async () => {
          const merchant = await newMerchant();
          const like = `UPDATE apps SET ${change.before ?? 'active = true'} WHERE code = :app_code`;
          await rows(database(), like, merchant);
          return merchant;
        },
        role: 'admin',
        command: ({ app_code }) => ['app', verb, String(app_code), ...options],
        page: (merchant) =>
          `${pageOf(merchant)}/apps/${merchant.app_code}/change/${change.page ?? verb}`,
        form: () => change.form ?? {},
        effect: async (merchant) => {
          const found = await requireApp(database(), merchant.app_code);
          const { created_at: _, app_key: __, ...app } = found;
          return {
            ...app,
            app_secrets: await secretsOf('app_secrets', merchant),
            own_secrets: await secretsOf('webhook_secrets', merchant),
          };
        },
        becomes: change.becomes,
        names: namesOf,
      });
    }
  });

  describe('user', () => {
    prove<TestMerchant>({
      name: 'user create',
      make: newMerchant,
      role: 'admin',
      command: ({ merchant_id }) => [
        ...['user', 'create', '--merchant', String(merchant_id), '--role', 'Operator'],
        ...['--email', `Asha-${merchant_id}@new.example`, '--name', 'Asha'],
      ],
      page: (merchant) => `${pageOf(merchant)}/new-user`,
      form: ({ merchant_id }) => ({
        email: `Asha-${merchant_id}@new.example`,
        name: 'Asha',
        role: 'Operator',
      }),
      effect: async ({ merchant_id }) => {
        const users = await listUsers(database(), { merchant_id, ...page });
        const made = users.map(({ created_at: _, ...user }) => user);
        return { made, must_change: made.map((user) => user.must_change_password) };
      },
      becomes: { must_change: [true] },
      names: ({ merchant_id }) => ({ MERCHANT: String(merchant_id) }),
    });

    const accounts = (email: string) => {
      const { secretsKeys } = doors.test.service.config;
      return accountHashes(secretsKeys, email);
    };

    /** A user with a failed log-in. */
    const newUser = async (before: string) => {
      const { merchant_id } = await newMerchant();
      const user = await createTestUser(doors.test.service, merchant_id, 'Finance');
      await rows(database(), `UPDATE users SET ${before} WHERE email = :email`, user);
      const wrong = new Error('wrong');
      const counted = {
        account_hash: accounts(user.email)[0]!,
        network: null,
        isWrong: () => true,
        refuse: () => wrong,
      };
      await rejection(countFailures(database(), counted, () => Promise.reject(wrong)));
      return { ...user, merchant_id };
    };
    type User = Awaited<ReturnType<typeof newUser>>;

    const failuresOf = async ({ email }: User) => {
      const failures =
        'SELECT FROM log_in_limits WHERE account_hash = ANY (CAST(:accounts AS text[]))';
      return (await rows(database(), failures, { accounts: accounts(email) })).length;
    };

    const CHANGES: Change[] = [
      {
        verb: 'update',
        options: ['--name', 'Asha', '--role', 'Admin'],
        form: { name: 'Asha', role: 'Admin' },
        becomes: { name: 'Asha', role: 'Admin', keeps_password: true, failures: 1 },
      },
      {
        verb: 'update',
        page: 'change/new-password',
        options: ['--new-password'],
        becomes: { must_change_password: true, keeps_password: false },
      },
      {
        verb: 'update',
        page: 'change/reactivate',
        options: ['--reactivate'],
        before: 'active = false',
        becomes: { active: true, keeps_password: true },
      },
      {
        verb: 'update',
        page: 'change/forget-failures',
        options: ['--forget-failures'],
        becomes: { failures: 0, keeps_password: true },
      },
      { verb: 'deactivate', page: 'deactivate', role: 'support', becomes: { active: false } },
      { verb: 'reset-totp', before: 'totp = true', becomes: { totp: false } },
    ];
    for (const { verb, options = [], ...change } of CHANGES) {
      prove<User>({
        name: ['user', verb, ...options].join(' '),
        make: () => newUser(change.before ?? 'active = true'),
        role: change.role ?? 'admin',
        command: ({ email }) => ['user', verb, email, ...options],
        page: (user) => `${pageOf(user)}/users/${user.userId}/${change.page ?? `change/${verb}`}`,
        form: () => change.form ?? {},
        effect: async (user) => {
          const { created_at: _, ...found } = await requireUser(database(), user);
          const hash = (await passwordHashOf(database(), found))!;
          return {
            ...found,
            keeps_password: await isPassword(user.password, hash),
            failures: await failuresOf(user),
          };
        },
        becomes: change.becomes,
        names: ({ email, merchant_id }) => ({ USER: email, MERCHANT: String(merchant_id) }),
      });
    }
  });

  it('lists the same merchants for a search, by one rule', async () => {
    const { admin, browserOf, test } = doors;
    const env = { DATABASE_URL: test.testDatabase.url, MALIPO_STAFF_TOKEN: admin.token };
    const ids: number[] = [];
    for (const name of ['Duka la Asha', 'DUKA 2']) {
      const { merchant_id } = await newMerchant();
      ids.push(merchant_id);
      const named = `UPDATE merchants SET name = :name, email = 'e' || id || '@find.example'
        WHERE id = :merchant_id`;
      await rows(database(), named, { merchant_id, name });
    }
    const browser = await browserOf(admin);
    const searches = ['duka', 'la asha', 'FIND.example', String(ids[1]), 'du', 'nobody at all'];
    for (const what of searches) {
      const expected = await listMerchants(database(), { what, after: undefined, limit: 50 });
      const { stdout } = await runAdmin(['merchant', 'list', '--search', what, '--json'], { env });
      const listed = (JSON.parse(stdout).merchants as { merchant_id: number }[]).map(
        ({ merchant_id }) => merchant_id,
      );
      expect(listed, what).to.deep.equal(expected.map(({ id }) => id));
      const page = await browser.get(`/merchants?q=${encodeURIComponent(what)}`);
      const general = await browser.get(`/search?q=${encodeURIComponent(what)}`);
      for (const id of ids) {
        const isFound = listed.includes(id);
        expect(page.text.includes(`"/merchants/${id}"`), `${what}: ${id}`).to.equal(isFound);
        expect(general.text.includes(`/search?merchant=${id}"`), what).to.equal(isFound);
      }
    }
  });
});
