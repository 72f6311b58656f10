import { expect } from 'chai';
import type { Database } from '../../src/connections/database.ts';
import type { MerchantPayment } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import {
  BAD_AS_OF,
  BAD_DATE,
  BAD_PAGE,
  BAD_PAGE_SIZE,
  BAD_PHONE,
  BAD_REF_NO,
  expectBadValues,
} from '../support/query-cases.ts';
import {
  expectRefusal,
  newCollection,
  newCompletedCollection,
  newPayout,
  receiptOf,
  reversalRequest,
  succeeded,
  type TestMerchant,
  useService,
} from '../support/world.ts';

const KAMAU = '+254712345678';
const WANJIKU = '+254733123456';

/** A kind of payment, and where its lists are. */
interface Listed {
  list: string;
  deprecated?: string;
  table: string;
  account: string;
  ownFields: Record<string, string>;
  /** Where one of them is, by its id and reference. */
  detail: (payment: { id: string; ref_no: string }) => string;
  maxRefNo: number;
  /** The words of its statuses, in the order of their numbers, and those of another kind. */
  words: string[];
  strange: string[];
  add: (database: Database, merchant: TestMerchant, refNo?: string) => Promise<MerchantPayment>;
}

const KINDS: Record<string, Listed> = {
  collections: {
    list: '/collections/checkouts',
    deprecated: '/collections/list',
    table: 'collections',
    account: 'payfrom',
    ownFields: { account_number: 'INV-1', callback_url: 'http://127.0.0.1:9/hook' },
    detail: ({ id }) => `/collections/checkouts/${id}`,
    maxRefNo: 50,
    words: ['pending', 'processing', 'failed', 'completed'],
    strange: ['unprocessed', 'processed', 'reversed'],
    add: (database, merchant, refNo) =>
      newCollection(database, merchant, refNo === undefined ? {} : { ref_no: refNo }),
  },
  payouts: {
    list: '/payouts',
    deprecated: '/payouts/list',
    table: 'payouts',
    account: 'payto',
    ownFields: {},
    detail: ({ id }) => `/payouts/${id}`,
    maxRefNo: 50,
    words: ['pending', 'processing', 'failed', 'completed'],
    strange: ['unprocessed', 'processed', 'reversed'],
    add: (database, merchant, refNo) =>
      newPayout(database, merchant, refNo === undefined ? {} : { ref_no: refNo }),
  },
  reversals: {
    list: '/reversals',
    table: 'reversals',
    account: 'account',
    ownFields: {},
    detail: ({ ref_no }) => `/reversals/${ref_no}`,
    maxRefNo: 60,
    words: ['unprocessed', 'processed', 'failed', 'reversed'],
    strange: ['pending', 'processing', 'completed'],
    add: async (database, merchant, refNo) => {
      const collection = await newCompletedCollection(database, merchant);
      const overrides = refNo === undefined ? {} : { ref_no: refNo };
      return createReversal(database, reversalRequest(collection, overrides));
    },
  },
};

/** Oldest first. */
const ROWS: [ref: string, status: string, account: string, createdAt: string][] = [
  ['r1', 'pending', KAMAU, '2026-03-01T00:00:00.000Z'],
  ['r2', 'processing', WANJIKU, '2026-03-01T23:59:59.999999Z'],
  ['r3', 'failed', KAMAU, '2026-03-02T00:00:00Z'],
  ['r4', 'completed', WANJIKU, '2026-03-03T12:00:00Z'],
  ['r5', 'pending', KAMAU, '2026-03-04T00:00:00Z'],
];

/** What is asked, and which rows that gives. */
const BOTH: [query: string, refs: string][] = [
  ['', 'r5 r4 r3 r2 r1'],
  ['date_from=2026-03-02', 'r5 r4 r3'],
  ['date_to=2026-03-01', 'r2 r1'],
  ['date_from=2026-03-01T23:59:59.999Z&date_to=2026-03-01T23:59:59.999Z', 'r2'],
  ['date_to=2026-03-01T23:59:59Z', 'r2 r1'],
  ['date_to=2026-03-01T23:59:59.000Z', 'r1'],
  ['date_from=2026-03-02T03:00:00%2B03:00', 'r5 r4 r3'],
  ['date_from=2026-03-02T03:00:00+03:00', 'r5 r4 r3'],
  ['date_from=2026-03-02T00:00:00.001Z&date_to=2026-03-03T11:59:59.999999Z', ''],
  ['date_from=2026-03-03T09:00:00-03:00&date_to=2026-03-03', 'r4'],
  ['date_from=2026-03-03&date_to=2026-03-03T12:00:00Z', 'r4'],
  ['date_from=2026-03-01&date_to=2026-03-01', 'r2 r1'],
  ['date_from=2026-03-02&date_to=2026-03-03', 'r4 r3'],
  ['date_from=2026-03-05', ''],
  ['date_from=0001-01-01&date_to=9999-12-31', 'r5 r4 r3 r2 r1'],
  ['date_from=2024-02-29&date_to=2024-02-29', ''],
  ['ref_no=r3', 'r3'],
  ['ref_no=R3', ''],
  ['ref_no=r3&date_to=2026-03-01', ''],
  ['page_size=2', 'r5 r4'],
  ['page_size=2&page=3', 'r1'],
  ['page_size=2&page=4', ''],
  ['page=999999999&page_size=100', ''],
  ['page=001&page_size=0100', 'r5 r4 r3 r2 r1'],
];

/** The rows of each status, by its number. */
const BY_NUMBER: [number: number, refs: string][] = [
  [0, 'r5 r1'],
  [1, 'r2'],
  [2, 'r3'],
  [3, 'r4'],
];

const NEWER: typeof BOTH = [
  ...BY_NUMBER.map(([number, refs]): [string, string] => [`status=${number}`, refs]),
  ['status=0&date_from=2026-03-02', 'r5'],
  ['status=3&ref_no=r4&date_from=2026-03-03&date_to=2026-03-03', 'r4'],
];

const OLDER: typeof BOTH = [
  ['status=pending', 'r5 r2 r1'],
  ['status=failed', 'r3'],
  ['status=completed', 'r4'],
  ['phone=%2B254733123456', 'r4 r2'],
  ['phone=+254733123456', 'r4 r2'],
  ['phone=254733123456', 'r4 r2'],
  ['phone=%2B254700000000', ''],
  ['phone=%2B254733123456&status=pending', 'r2'],
  ['phone=%2B254733123456&status=completed&ref_no=r4&date_from=2026-03-03', 'r4'],
];

for (const [kind, listed] of Object.entries(KINDS)) {
  const { list: LIST, deprecated: DEPRECATED, table, account, ownFields, add } = listed;
  const { detail, maxRefNo, words, strange } = listed;

  describe(`Listing ${kind}`, () => {
    const service = useService({ merchant: 'all' });

    before(async () => {
      for (const [refNo, status, phone, created_at] of ROWS) {
        const { id } = await add(service.database, service.merchant, refNo);
        await service.rewrite(
          `UPDATE ${table} SET status = :status, ${account} = :phone, created_at = :created_at
             ${table === 'payouts' && status === 'failed' ? ', refund_posted_at = now()' : ''}
           WHERE id = :id`,
          { id, status, phone, created_at },
        );
      }
    });

    const refsOf = (answer: { body: { results: { ref_no: string }[] } }) =>
      answer.body.results.map(({ ref_no }) => ref_no).join(' ');

    for (const [path, cases] of [
      [
        LIST,
        [
          ...BOTH,
          ...NEWER,
          ...BY_NUMBER.map(([number, refs]) => [`status=${words[number]}`, refs] as const),
        ],
      ],
      ...(DEPRECATED ? ([[DEPRECATED, [...BOTH, ...OLDER]]] as const) : []),
    ] as const) {
      for (const [query, refs] of cases) {
        it(`at ${path}?${query} gives ${refs || 'nothing'}`, async () => {
          const answer = await service.client.get(`${path}?${query}`);
          expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
          expect(refsOf(answer)).to.equal(refs);
        });
      }

      it(`at ${path} refuses what it does not know, by its name`, async () => {
        for (const [query, name] of [
          ['statuss=failed', 'statuss'],
          ['format=csv', 'format'],
          ['status%5B%5D=9', 'status[]'],
          ['__proto__=x', '__proto__'],
          ...(path === LIST ? [['phone=%2B254733123456', 'phone']] : []),
        ]) {
          const answer = await service.client.get(`${path}?${query}`);
          const text = `Invalid query parameter: ${name}`;
          expectRefusal(answer, 400, text, { code: 'invalid_query', field: name! });
        }
      });

      it(`at ${path} refuses dates that are the wrong way round`, async () => {
        for (const query of [
          'date_from=2026-03-02&date_to=2026-03-01',
          'date_from=2026-03-02T00:00:00Z&date_to=2026-03-01',
          'date_from=2026-03-02&date_to=2026-03-02T02:59:59%2B03:00',
        ]) {
          const answer = await service.client.get(`${path}?${query}`);
          expectRefusal(answer, 400, 'Invalid query parameter: date_from', { field: 'date_from' });
        }
      });
    }

    const BAD = {
      page: BAD_PAGE,
      page_size: BAD_PAGE_SIZE,
      as_of: BAD_AS_OF,
      date_from: BAD_DATE,
      date_to: BAD_DATE,
      ref_no: [...BAD_REF_NO, 'x'.repeat(maxRefNo + 1)],
    };
    it('refuses a bad value by its parameter’s name', async () => {
      const status = ['4', '-1', '1.0', ...strange, words[0]!.toUpperCase(), '', 'x', '%00'];
      await expectBadValues(service.client, LIST, { ...BAD, status });
    });

    it('refuses the first parameter of the table that is wrong', async () => {
      const wrong = new Map([
        ['page', '0'],
        ['page_size', '101'],
        ['as_of', '!'],
        ['status', '4'],
        ['date_from', 'x'],
        ['date_to', 'x'],
        ['ref_no', '.'],
      ]);
      for (const name of [...wrong.keys()]) {
        const answer = await service.client.get(
          `${LIST}?${new URLSearchParams([...wrong].reverse())}`,
        );
        expectRefusal(answer, 400, `Invalid query parameter: ${name}`);
        wrong.delete(name);
      }
    });

    it('shows in each record what its detail shows', async () => {
      const owner = await service.newMerchant();
      const own = service.clientOf(owner);
      const payment = await add(service.database, owner);
      await service.learn(payment, succeeded());
      const { body } = await own.get(LIST);
      expect(body).to.include({ count: 1, next: null, previous: null });
      expect(body.results).to.deep.equal([(await own.get(detail(payment))).body]);
      expect(body.results[0]).to.include({
        trans_id: receiptOf(payment),
        result_description: 'Done',
      });
    });

    it('shows 20 records unless asked otherwise', async () => {
      const owner = await service.newMerchant();
      const own = service.clientOf(owner);
      for (let number = 0; number < 51; number += 1) await add(service.database, owner);
      expect((await own.get(LIST)).body).to.include({ count: 51 });
      expect((await own.get(LIST)).body.results).to.have.length(20);
      expect((await own.get(`${LIST}?page_size=100`)).body.results).to.have.length(51);
      if (!DEPRECATED) return;
      expect((await own.get(DEPRECATED)).body.results).to.have.length(50);
    });

    if (!DEPRECATED) return;

    it('refuses a bad value by its parameter’s name in the deprecated list', async () => {
      const status = ['0', '1', 'processing', 'PENDING', '', 'x', 'pending%00'];
      await expectBadValues(service.client, DEPRECATED, { ...BAD, status, phone: BAD_PHONE });
    });

    it('shows exactly the record in the deprecated list, with what is processed as pending', async () => {
      const { body, headers } = await service.client.get(`${DEPRECATED}?ref_no=r2`);
      const [{ id, ...record }] = body.results;
      expect(id).to.be.a('string');
      expect(record).to.deep.equal({
        [account]: WANJIKU,
        amount: '100.00',
        ref_no: 'r2',
        ...ownFields,
        status: 'pending',
        category: 'other',
        created_at: '01/03/2026 23:59:59',
      });
      expect(headers.get('deprecation')).to.equal('true');
      expect(headers.get('link')).to.equal(
        `<${service.baseUrl}/wallets/transactions>; rel="successor-version"`,
      );
    });
  });
}
