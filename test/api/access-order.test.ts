import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { rows } from '../../src/connections/database.ts';
import type { Product } from '../../src/domain/merchants/app.ts';
import type { assign } from '../support/assignments.ts';
import type { TestService } from '../support/test-service.ts';
import {
  AMOUNT_CENTS,
  collectionBody,
  newCompletedCollection,
  payoutBody,
  request,
  reversalBody,
  type TestMerchant,
  useService,
} from '../support/world.ts';

/** What a merchant initiates, and the last thing that can be wrong with it. */
interface Operation {
  path: string;
  product: Product;
  /** Makes the merchant ready for one. @returns its body. */
  prepare: (service: TestService, merchant: TestMerchant) => Promise<Record<string, unknown>>;
  /** What is wrong with a second one. */
  last: [make: string, status: number, detail: string];
  /** Who says which app it is booked on. */
  namesApp: 'everybody' | 'people' | 'nobody';
}

const OPERATIONS: Record<string, Operation> = {
  collections: {
    path: '/collections/checkouts/initiate',
    product: 'collections',
    prepare: async () => collectionBody(),
    last: [
      'DELETE FROM wallets WHERE merchant_id = :id',
      403,
      'Wallet not found or not initialized',
    ],
    namesApp: 'people',
  },
  payouts: {
    path: '/payouts/initiate',
    product: 'payouts',
    prepare: async ({ database }, merchant) => {
      await topUpPayoutWallet(database, merchant.merchant_id, AMOUNT_CENTS, 'T1');
      return payoutBody(merchant);
    },
    last: ['SELECT :id', 400, 'Insufficient balance in payout wallet'],
    namesApp: 'everybody',
  },
  reversals: {
    path: '/reversals/initiate',
    product: 'collections',
    prepare: async ({ database }, merchant) => {
      // Without a receipt to name, nobody waits for it to be sent.
      const { ref_no } = await newCompletedCollection(database, merchant, null);
      return reversalBody(ref_no);
    },
    last: ['SELECT :id', 409, 'A reversal is already in progress'],
    namesApp: 'nobody',
  },
};

for (const [name, { path, product, prepare, last, namesApp }] of Object.entries(OPERATIONS)) {
  describe(`A request for ${name} that is wrong in many ways`, () => {
    const service = useService();
    let access: string;
    let headers: Record<string, string>;
    let body: unknown;

    beforeEach(async () => {
      headers = {};
      body = await prepare(service, service.merchant);
    });

    type Break = [what: string, make: () => unknown, status: number, detail: string];

    const set =
      (table: Parameters<typeof assign>[2], assignment: string): (() => Promise<void>) =>
      () =>
        service.assign(table, assignment);
    const send = () =>
      request('POST', `${service.baseUrl}${path}`, {
        ...(access ? { access } : {}),
        body,
        headers,
      });

    async function emptyBucket(): Promise<void> {
      const of = (what: string) => `${what}_limit_per_minute = 1, ${what}_limit_burst = 1`;
      await set('merchants', `${of('rate')}, ${of('payout')}`)();
      await send();
    }

    const [statement, lastStatus, lastDetail] = last;
    const undoable: Break = [
      'cannot be done',
      () => rows(service.owner, statement, { id: service.merchantId }),
      lastStatus,
      lastDetail,
    ];
    const unknownApp: Break = [
      'names an unknown app',
      () => {
        body = { ...(body as object), app_code: 1 };
      },
      404,
      'App not found',
    ];
    const inactiveApp: Break = [
      'names an inactive app',
      set('apps', 'active = false'),
      403,
      'App is not active',
    ];
    const unapproved: Break = [
      'is not approved',
      set('merchants', 'approved = false'),
      403,
      `Your merchant profile is not approved. Please ensure your profile has been verified before initiating ${name}.`,
    ];
    const withoutOtp: Break = [
      'is of a session without a one-time password',
      set('merchants', `totp_required_for = '{payouts,reversals}'`),
      403,
      `Log in with a one-time password before initiating ${name}`,
    ];
    const sent: Break[] = [
      [
        'has a wrong field',
        () => {
          body = { ...(body as object), callback_url: 'x' };
        },
        400,
        'Invalid callback_url',
      ],
      [
        'lacks a field',
        () => {
          body = { ...(body as object), callback_url: null };
        },
        400,
        'callback_url field is required',
      ],
      [
        'is no object',
        () => {
          body = '[]';
        },
        400,
        'Invalid request',
      ],
      [
        'is no JSON',
        () => {
          body = '{';
        },
        400,
        'JSON parse error',
      ],
      [
        'is too large',
        () => {
          body = `{${' '.repeat(70_000)}`;
        },
        413,
        'Request body is too large',
      ],
      [
        'is of another type',
        () => {
          headers['content-type'] = 'text/plain';
        },
        415,
        'Content-Type must be application/json',
      ],
      [
        'has a wrong key',
        () => {
          headers['idempotency-key'] = 'x'.repeat(256);
        },
        400,
        'Invalid Idempotency-Key',
      ],
    ];
    const strangers: Break[] = [
      [
        'is of an inactive merchant',
        set('merchants', 'active = false'),
        403,
        'Merchant account is not active',
      ],
      [
        'has a token that was revoked',
        set('token_families', 'revoked_at = now()'),
        401,
        'Token has been revoked',
      ],
      [
        'has a token that has expired',
        () => {
          const { exp: _exp, iat: _iat, ...claims } = jwt.decode(access) as jwt.JwtPayload;
          const { id, secret } = service.config.jwtKeys.current;
          access = jwt.sign(claims, secret, { keyid: id, expiresIn: -1 });
        },
        401,
        'Invalid or expired token',
      ],
      [
        'has no token',
        () => {
          access = '';
        },
        401,
        'Authentication credentials were not provided',
      ],
    ];

    const OF_APPS: Break[] = [
      undoable,
      ...(namesApp === 'everybody' ? [unknownApp] : []),
      ...sent,
      [
        'lacks the product',
        set('apps', `products = '{disbursements}'`),
        403,
        `App does not have ${product} product enabled`,
      ],
      unapproved,
      ['comes too often', emptyBucket, 429, 'Request rate limit exceeded'],
      ['is of an inactive app', set('apps', 'active = false'), 403, 'App is not active'],
      strangers[0]!,
      [
        'is from elsewhere',
        set('apps', `ip_allow_list = '{203.0.113.7}'`),
        403,
        'Access denied: IP address not allowed',
      ],
      ...strangers.slice(1),
    ];

    const OF_PEOPLE: Break[] = [
      undoable,
      ...(namesApp === 'nobody' ? [] : [inactiveApp, unknownApp]),
      ...sent,
      unapproved,
      ...(name === 'collections' ? [] : [withoutOtp]),
      [
        'is of an Operator',
        set('users', `role = 'Operator'`),
        403,
        'You do not have permission to access this resource',
      ],
      [
        'is of a person who must change the password',
        set('users', 'must_change_password = true'),
        403,
        'Change your password first',
      ],
      ['comes too often', emptyBucket, 429, 'Request rate limit exceeded'],
      ...strangers.slice(0, 1),
      [
        'is from where no user may come from',
        set('merchants', `user_ip_allow_list = '{203.0.113.7}'`),
        403,
        'Access denied: IP address not allowed',
      ],
      ['is of a deactivated person', set('users', 'active = false'), 401, 'Token has been revoked'],
      ...strangers.slice(1),
    ];

    /** Each of them breaks one thing more, and that must be what is answered. */
    async function expectOrder(breaks: Break[]): Promise<void> {
      expect((await send()).status).to.equal(200);
      body = { ...(body as object), ref_no: 'another' };
      for (const [what, make, status, detail] of breaks) {
        await make();
        const answer = await send();
        expect([what, answer.status, answer.body.detail]).to.deep.equal([what, status, detail]);
      }
    }

    it('is refused for the first in the order of checks when an app sends it', async () => {
      access = service.merchant.access;
      await expectOrder(OF_APPS);
    });

    it('is refused for the first in the order of checks when a person sends it', async () => {
      access = (await service.newUser()).access;
      body = { ...(body as object), app_code: service.merchant.app_code };
      await expectOrder(OF_PEOPLE);
    });
  });
}
