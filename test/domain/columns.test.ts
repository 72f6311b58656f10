import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { rowDocument } from '../../src/admin/output/document.ts';
import { webhookDocument } from '../../src/admin/output/webhooks.ts';
import { rows } from '../../src/connections/database.ts';
import { AUDIT_COLUMNS } from '../../src/domain/audit/audit-log.ts';
import { listApps } from '../../src/domain/merchants/app.ts';
import { listMerchants } from '../../src/domain/merchants/merchant.ts';
import { listUsers } from '../../src/domain/merchants/user.ts';
import { eventBindings } from '../../src/domain/webhooks/create-event.ts';
import { findWebhook } from '../../src/domain/webhooks/webhook-file.ts';
import * as payments from '../../src/records/payments.ts';
import { factsOf } from '../../src/records/record.ts';
import * as webhooks from '../../src/records/webhooks.ts';
import { newEvent } from '../support/events.ts';
import { createTestStore, type TestStore } from '../support/payments.ts';
import { createTestUser } from '../support/test-merchant.ts';

type Row = Record<string, unknown>;
type Reader = (row: never) => unknown;
/** Tells which of the columns a face shows: an answer of the API, a webhook, a page, a file, a command. */
type Face = (columns: readonly string[]) => Iterable<string>;

/** Each of them takes a reader down another way. */
const STATES: readonly Row[] = [
  { status: 'completed', resent: true },
  { status: 'failed', refund_posted_at: new Date() },
  { status: 'pending', attempts_made: [] },
];

/** The columns that code reads of a row. */
const readBy =
  (reader: Reader): Face =>
  (columns) => {
    const read = new Set<string>();
    for (const state of STATES) {
      const values = Object.fromEntries(columns.map((name) => [name, sampleOf(name)]));
      const get = (row: Row, name: string) => {
        read.add(name);
        return row[name];
      };
      reader(new Proxy({ ...values, attempts_made: [], ...state }, { get }) as never);
    }
    return read;
  };

function sampleOf(name: string): unknown {
  if (name === 'channel') return 63902;
  if (/_at$/.test(name)) return new Date();
  if (/_cents$|_no$|_code$/.test(name)) return 1;
  return name === 'body' ? '{}' : 'https://shop.example/webhooks';
}

/** The columns that the command line writes of a row. */
const writtenBy =
  (documentOf: (columns: readonly string[]) => object): Face =>
  (columns) => {
    const written = Object.keys(documentOf(columns));
    return columns.filter((name) => written.includes(name.replace(/_cents$/, '')));
  };

/** The columns that the files of the console name which have rows of this type. */
const pagesWith =
  (type: string): Face =>
  (columns) => {
    const folder = new URL('../../src/console/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => readFileSync(new URL(path, folder), 'utf8'))
      .filter((text) => new RegExp(`\\b${type}\\b`).test(text))
      .join('\n');
    return columns.filter((name) => new RegExp(`\\b${name}\\b`).test(files));
  };

const paymentDocument = (columns: readonly string[]) =>
  rowDocument(Object.fromEntries(columns.map((name) => [name, 1])), payments.INNER_COLUMNS);

/** Columns that are left out on purpose. */
const NOWHERE = 'nowhere';

/** Which faces show each column of the database. Decide about a new column here. */
describe('Each column of', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  async function columnsOf(table: string): Promise<string[]> {
    const found = await rows<{ column_name: string }>(
      store.owner,
      `SELECT column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = :table ORDER BY ordinal_position`,
      { table },
    );
    return found.map(({ column_name }) => column_name);
  }

  /** Compares the columns that each set of faces shows with what has been decided. */
  async function expectDecided(
    tables: string,
    faces: Record<string, Face>,
    decided: Record<string, string>,
  ) {
    const names = (await Promise.all(tables.split(' ').map(columnsOf))).flat();
    const columns = [...new Set(names)];
    const shown = Object.entries(faces).map(([face, of]) => [face, new Set(of(columns))] as const);
    const facesOf = (name: string) => shown.filter(([, read]) => read.has(name)).map(([by]) => by);
    const found: Record<string, string[]> = {};
    for (const name of columns) {
      const by = facesOf(name).join(' ') || NOWHERE;
      found[by] = [...(found[by] ?? []), name];
    }
    const expected = Object.entries(decided).map(([by, list]) => [by, list.split(' ')]);
    expect(found).to.deep.equal(Object.fromEntries(expected));
  }

  it('collections', () =>
    expectDecided(
      'collections',
      {
        record: readBy(payments.collection.present),
        detail: readBy(payments.collectionDetail.present),
        listed: readBy(payments.listedCollection.present),
        webhook: readBy(eventBindings),
        console: readBy(factsOf(payments.collectionTable)),
        command: writtenBy(paymentDocument),
      },
      {
        'console command': 'merchant_id app_code channel gateway reference undone_at deadline_at',
        'record detail listed webhook console command': 'id amount_cents ref_no',
        'record detail listed console command': 'payfrom account_number created_at',
        'detail console command': 'commission_cents',
        'record detail listed webhook command': 'callback_url status',
        'record detail listed command': 'category',
        'detail webhook console command':
          'result_code result_description trans_id external_ref payment_completed_at',
        command:
          'next_step next_step_at parked_reason last_answer last_asked_at asked_family asked_app asked_user asked_ip asked_request',
        nowhere: 'step_no step_swept_at',
      },
    ));

  it('payouts', () =>
    expectDecided(
      'payouts',
      {
        record: readBy(payments.payout.present),
        detail: readBy(payments.payoutDetail.present),
        listed: readBy(payments.listedPayout.present),
        webhook: readBy(eventBindings),
        console: readBy(factsOf(payments.payoutTable)),
        command: writtenBy(paymentDocument),
      },
      {
        'console command':
          'merchant_id app_code gateway redebited_at reference undone_at deadline_at',
        'record detail listed webhook console command': 'id amount_cents ref_no',
        'record detail console command': 'channel',
        'record detail listed console command': 'payto category created_at',
        'detail console command': 'fee_cents narration',
        'webhook command': 'callback_url',
        'detail listed console command': 'refund_posted_at',
        'record detail listed webhook command': 'status',
        'detail webhook console command':
          'result_code result_description trans_id external_ref payment_completed_at',
        command:
          'next_step next_step_at parked_reason last_answer last_asked_at asked_family asked_app asked_user asked_ip asked_request',
        nowhere: 'step_no step_swept_at',
      },
    ));

  it('reversals', () =>
    expectDecided(
      'reversals',
      {
        record: readBy(payments.reversal.present),
        webhook: readBy(eventBindings),
        console: readBy(factsOf(payments.reversalTable)),
        command: writtenBy(paymentDocument),
      },
      {
        'console command': 'merchant_id app_code channel gateway reference undone_at deadline_at',
        'record webhook console command':
          'id amount_cents ref_no result_description trans_id payment_completed_at',
        command:
          'collection_id next_step next_step_at parked_reason last_answer last_asked_at asked_family asked_app asked_user asked_ip asked_request',
        'record console command':
          'checkout_ref_no original_trans_id commission_cents reason created_at',
        'webhook console command': 'account result_code external_ref',
        'webhook command': 'callback_url',
        'record webhook command': 'status',
        nowhere: 'step_no step_swept_at',
      },
    ));

  it('returns', () =>
    expectDecided(
      'returns',
      { console: readBy(factsOf(payments.returnTable)), command: writtenBy(paymentDocument) },
      {
        'console command':
          'merchant_id id original_trans_id channel gateway account amount_cents reference result_code result_description trans_id external_ref payment_completed_at undone_at deadline_at created_at',
        command:
          'collection_id movement_id status next_step next_step_at parked_reason last_answer last_asked_at asked_family asked_app asked_user asked_ip asked_request',
        nowhere: 'step_no step_swept_at',
      },
    ));

  it('events and their deliveries', async () => {
    const merchant = await store.newMerchant();
    const id = await newEvent(store.database, merchant);
    const webhook = (await findWebhook(store.database, id))!;
    await expectDecided(
      'events webhook_deliveries',
      {
        feed: readBy(webhooks.feedEvent.present),
        list: readBy(webhooks.listedDelivery.present),
        detail: readBy(webhooks.deliveryDetail.present),
        console: pagesWith('Webhook'),
        command: writtenBy(() => webhookDocument(webhook)),
      },
      {
        'console command': 'merchant_id app_code change_no parked_reason',
        'feed list detail console command': 'id payment_kind payment_id type sequence created_at',
        'list detail console command': 'callback_url status attempts delivered_at',
        'detail console command': 'endpoint',
        'feed detail console command': 'body',
        nowhere:
          'event_id is_retry attempts_before_resend admitted_at next_step next_step_at step_no step_swept_at',
      },
    );
  });

  it('merchants, apps and users', async () => {
    const { merchant_id } = await store.newMerchant();
    await createTestUser(store, merchant_id);
    const page = { limit: 1, after: undefined };
    const [[merchant], [app], [user]] = [
      await listMerchants(store.database, page),
      await listApps(store.database, page),
      await listUsers(store.database, page),
    ];
    await expectDecided(
      'merchants',
      {
        console: pagesWith('MerchantRecord'),
        command: writtenBy(() => rowDocument(merchant!)),
      },
      {
        'console command':
          'id name email phone_number active approved payouts_held debt_limit_cents commission_bps commission_fixed_cents created_at rate_limit_per_minute rate_limit_burst payout_limit_per_minute payout_limit_burst user_ip_allow_list totp_required_for',
        nowhere: 'payout_fee_bps payout_fee_fixed_cents',
      },
    );
    await expectDecided(
      'apps',
      {
        command: writtenBy(() => rowDocument(app!)),
      },
      {
        command:
          'code merchant_id name app_key products active created_at ip_allow_list signs_webhooks_with',
      },
    );
    await expectDecided(
      'users',
      {
        command: writtenBy(() => rowDocument(user!)),
      },
      {
        command: 'id merchant_id email name role active created_at must_change_password totp',
        nowhere: 'password_hash outgoing_from',
      },
    );
  });

  it('the audit log', () =>
    expectDecided(
      'audit_log',
      { csv: () => AUDIT_COLUMNS },
      {
        csv: 'id actor action merchant_id subject reason details door address session request happened_at database_role',
      },
    ));
});
