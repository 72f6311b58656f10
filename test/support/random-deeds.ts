import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createDraws } from '../../scripts/daraja-simulator/draws.ts';
import { listDeeds } from '../../scripts/deeds-table.ts';
import { rows } from '../../src/connections/database.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { requireMember } from '../../src/domain/staff/staff.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import type { Fields } from '../../src/operations/field.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { perform } from '../../src/operations/perform.ts';
import { refund } from './books.ts';
import type { TestConsole, TestMember } from './console.ts';
import { rewrite } from './database.ts';
import { makeOverdue, resolve, type Scene } from './discrepancies/scene.ts';
import { makeFolder } from './make-folder.ts';
import { newPayout } from './payment-kinds.ts';
import { failed, learn, newCollection, succeeded } from './payments.ts';
import { SO_FAR } from './so-far.ts';
import { lineOf, runStatement } from './statements.ts';
import { createTestMerchant } from './test-merchant.ts';

/** What a member has tried, and what came of it. */
export interface Attempt {
  operation: Operation;
  member: TestMember;
  texts: Record<string, string>;
  outcome: 'done' | 'asked' | 'refused';
}

/** The days of a file about what happens while deeds are tried. */
const THESE_DAYS = { from: '2026-11-01', to: '2036-11-01' };
const FIELD_IS_LEFT_OUT = 0.75;
/** A file without them says nothing. */
const USUAL = ['file', 'utc_offset'];
const USUAL_IS_LEFT_OUT = 0.2;
const TEXT_IS_FIT = 0.9;
const TRIES_PER_FIELD = 8;
/** Deeds about money are tried more often. */
const MONEY = /^(discrepancy|approval|reconcile|ledger|wallet|payment)\./;
const MONEY_WEIGHT = 5;
const DECISIONS = ['discrepancy.resolve', 'discrepancy.assign'];
const DECISION_WEIGHT = 20;
/** Ids that are tried; older ones give way. */
const MAX_IDS = 30;

/** What a field may be about. */
type Pool =
  | 'discrepancy'
  | 'approval'
  | 'reconcile'
  | 'merchant'
  | 'app'
  | 'payment'
  | 'outgoing'
  | 'staff'
  | 'file'
  | 'channel'
  | 'first'
  | 'last'
  | 'receipt'
  | 'gateway'
  | 'profile'
  | 'offset';

/** Members of staff who try what comes into their heads: any operation, with any values. */
export class RandomDeeds {
  readonly #test: TestConsole;
  readonly #members: readonly TestMember[];
  readonly #draw: () => number;
  readonly #folder = makeFolder('deeds');
  /** Texts that some field may take. */
  readonly #texts = [
    ...['100.00', '5000.00', '-100.00', 'payout', 'collection', '63902', 'RCPT-1', 'RCPT-2'],
    ...['bank', 'capital', 'simulator/utility', SO_FAR.from, SO_FAR.to, '+03:00', '10'],
    ...['0.5', '2.5', '1h', 'all', 'https://shop.example', 'somebody@x.example', '10.0.0.0/8'],
  ];
  readonly #ids: Record<Pool, string[]> = {
    ...{ discrepancy: [], approval: [], reconcile: [], merchant: [], app: [] },
    ...{ payment: [], outgoing: [], staff: [], file: [], receipt: ['RCPT-1', 'RCPT-2'] },
    ...{ channel: ['63902'], first: [SO_FAR.from], last: [SO_FAR.to] },
    ...{ gateway: ['simulator'], profile: ['own'], offset: ['+03:00'] },
  };
  #operations: Operation[] = [];
  #count = 0;

  constructor(test: TestConsole, members: readonly TestMember[], seed: number) {
    this.#test = test;
    this.#members = members;
    this.#draw = createDraws(seed);
    this.#ids.staff.push(...members.map(({ email }) => email));
  }

  async begin(): Promise<void> {
    const all = (await listDeeds()).map(({ operation }) => operation);
    // Only a page gives it its job. `jobs replay` of the command line is another one.
    this.#operations = all
      .filter(({ title }) => title !== 'Replay a failed job')
      .flatMap((one) => Array<Operation>(weightOf(one)).fill(one));
    await this.addPayments();
  }

  /** Adds a merchant with an overdue payout, an overdue collection and a completed one, and files about them. */
  async addPayments(): Promise<void> {
    const { service } = this.#test;
    await this.#aQuarterPasses();
    const merchant = await createTestMerchant(service);
    const scene: Scene = { database: service.database, merchant };
    const paid = await newCollection(service.database, merchant);
    await learn(service.database, paid, succeeded());
    const collection = await makeOverdue(scene, await newCollection(service.database, merchant));
    const payout = await makeOverdue(scene, await newPayout(service.database, merchant));
    this.#learn('merchant', [String(merchant.merchant_id)]);
    this.#learn('app', [String(merchant.app_code)]);
    const bounced = await this.#addBounced(scene);
    this.#learn('payment', [paid.id, collection.id, payout.id, ...bounced.map(({ id }) => id)]);
    this.#learn(
      'outgoing',
      bounced.map(({ id }) => id),
    );
    this.#learn('file', [this.#fileAbout(collection), this.#fileAbout(payout)]);
  }

  /** Adds two payouts, one of which people have called back, and a row of a file that may be of either. */
  async #addBounced(scene: Scene): Promise<Payout[]> {
    const account = `+2547110${String(scene.merchant.merchant_id).padStart(5, '0')}`;
    const [back, out] = await Promise.all(
      [1, 2].map(() => newPayout(scene.database, scene.merchant, { payto: account })),
    );
    for (const payout of [back!, out!]) await learn(scene.database, payout, succeeded({ account }));
    await learn(scene.database, back!, failed());
    for (const as of ['undo', 'returned'] as const) {
      const asked = (await casesOf(scene.database, back!)).find(({ resolved_at }) => !resolved_at);
      if (asked) await resolve(scene, asked, as);
    }
    await refund(scene.database, back!);
    const line = lineOf(out!, { kind: 'reversal', reference: null, account });
    const row = { ...line, completedAt: new Date(), hasComeBack: true, isUndecided: true } as const;
    await runStatement(scene.database, [row], THESE_DAYS, { covers: [] }, 'file.csv');
    return [back!, out!];
  }

  /** Nobody stays shut out, and what was given or decided so long ago counts no more. */
  async #aQuarterPasses(): Promise<void> {
    const { database } = this.#test.service;
    const { owner } = this.#test.testDatabase;
    await rows(database, 'DELETE FROM paused_channels');
    await rewrite(
      database,
      "UPDATE audit_log SET happened_at = happened_at - interval '91 days'",
      {},
    );
    for (const { email } of this.#members) {
      const role = email.split('-')[0];
      await rows(owner, 'UPDATE staff SET active = true, role = :role WHERE email = :email', {
        ...{ role, email },
      });
    }
  }

  #fileAbout(payment: AnyPayment): string {
    const path = join(this.#folder, `${payment.id}.csv`);
    const account = payment.kind === 'payout' ? payment.payto : '+254712345678';
    const line = [payment.reference, payment.kind, `X${payment.id.slice(-8)}`, account, '100.00'];
    const head = 'reference,kind,trans_id,account,amount,completed_at';
    writeFileSync(path, `${head}\n${line.join(',')},2026-11-20T10:00:00+03:00\n`);
    return path;
  }

  /** Lets one member try one operation. Anything but a refusal in words fails. */
  async next(): Promise<Attempt> {
    this.#count += 1;
    const operation = this.#pick(this.#operations);
    const member = this.#pick(this.#members);
    const fields = { ...operation.about?.fields, ...operation.fields };
    const texts = this.#fill(operation, fields);
    const attempt = { operation, member, texts };
    try {
      return { ...attempt, outcome: await this.#perform(attempt) };
    } catch (error) {
      if (REFUSALS.has((error as Error).constructor.name))
        return { ...attempt, outcome: 'refused' };
      throw new Error(`${operation.name} with ${JSON.stringify(texts)} broke`, { cause: error });
    } finally {
      await this.#learnIds();
    }
  }

  async #perform({ operation, member: { email }, texts }: Omit<Attempt, 'outcome'>) {
    const { comparisons: _, ...service } = this.#test.service;
    const read = (fields: Fields) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [name, field.read(texts[name], 'UTC')]),
      );
    const subject = await operation.about?.find(service, read(operation.about.fields));
    const member = await requireMember(service.database, email);
    if (!member.active) throw new OperatorRefusal('Not active');
    // That a one-time password is fresh has tests of its own: there is one in half a minute.
    const { otp: _otp, seen: _seen, ...rest } = operation;
    const outcome = await perform(rest as Operation, {
      service,
      operator: {
        ...{ actor: email, member, hasGivenOtp: true, network: null },
        authorize: async () => undefined,
      },
      subject,
      values: read(operation.fields),
      reason: 'Because',
      time: String,
    });
    return outcome.asked ? ('asked' as const) : ('done' as const);
  }

  #fill({ name: deed }: Operation, fields: Fields): Record<string, string> {
    const texts: Record<string, string> = {};
    for (const [name, field] of Object.entries(fields)) {
      const isLeftOut = USUAL.includes(name) ? USUAL_IS_LEFT_OUT : FIELD_IS_LEFT_OUT;
      if (!field.isRequired && this.#draw() < isLeftOut) continue;
      for (let tries = 0; tries < TRIES_PER_FIELD; tries += 1) {
        const pool = this.#ids[poolOf(deed, name)] ?? [];
        const isFit = pool.length > 0 && this.#draw() < TEXT_IS_FIT;
        const text = this.#pick(isFit ? pool : (field.words ?? this.#texts));
        if (!isRead(() => field.read(text, 'UTC'))) continue;
        texts[name] = name === 'reference' ? `ref-${this.#count}` : text;
        break;
      }
    }
    return texts;
  }

  /** Questions, requests and statements that have come have ids that somebody may name. */
  async #learnIds(): Promise<void> {
    const found = await rows<{ pool: Pool; ids: string[] }>(
      this.#test.service.database,
      `SELECT 'approval' AS pool, array_agg(id::text) AS ids FROM approvals WHERE decision IS NULL
       UNION ALL SELECT 'reconcile', array_agg(id::text) FROM (SELECT id FROM statement_imports
         WHERE started_at IS NULL ORDER BY id DESC LIMIT 5) s
       UNION ALL SELECT 'discrepancy', array_agg(id::text) FROM (SELECT id FROM discrepancies
         WHERE resolved_at IS NULL ORDER BY id DESC LIMIT 20) d`,
    );
    for (const { pool, ids } of found) this.#ids[pool] = ids ?? [];
  }

  #learn(pool: Pool, ids: string[]): void {
    this.#ids[pool] = [...this.#ids[pool], ...ids].slice(-MAX_IDS);
  }

  #pick<Item>(items: readonly Item[]): Item {
    expect(items).to.not.have.length(0);
    return items[Math.floor(this.#draw() * items.length)]!;
  }
}

/** By name: the table has loaded the operations a second time. */
const REFUSALS = new Set(['OperatorRefusal', 'StaffRefusal', 'UsageError']);

function weightOf({ name }: Operation): number {
  if (DECISIONS.includes(name)) return DECISION_WEIGHT;
  return MONEY.test(name) ? MONEY_WEIGHT : 1;
}

const POOLS: Readonly<Record<string, Pool>> = {
  ...{ merchant_id: 'merchant', code: 'app', what: 'payment', payment: 'outgoing', file: 'file' },
  ...{ channel: 'channel', from: 'first', to: 'last', trans_id: 'receipt' },
  ...{ gateway: 'gateway', profile: 'profile', utc_offset: 'offset' },
};

/** Returns what a field of a deed is about, as far as its name says. */
function poolOf(deed: string, field: string): Pool {
  const noun = deed.split('.')[0] as Pool;
  const named = POOLS[field];
  if (named) return named;
  return field === 'id' || field === 'email' ? noun : ('none' as Pool);
}

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
