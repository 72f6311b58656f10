import winston from 'winston';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../src/connections/database.ts';
import type { WalletKind } from '../../src/domain/ledger/post-journal.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import type { Config } from '../../src/process/config.ts';
import { createService, type Service } from '../../src/service/service.ts';
import { clientOf } from './api-client.ts';
import { assign } from './assignments.ts';
import { callbacksOf, keepCallback } from './callbacks.ts';
import { rewrite } from './database.ts';
import * as scene from './discrepancies/scene.ts';
import { endpointOf, makeEndpoint } from './endpoints.ts';
import { deliveriesOf, deliveryOf, makeDue, newEvent } from './events.ts';
import {
  accountBalance,
  expectRightBooks,
  expectSoundLedger,
  payoutBooks,
} from './ledger-check.ts';
import * as kinds from './payment-kinds.ts';
import * as payments from './payments.ts';
import { kindsOf, securityEvents } from './security-events.ts';
import { workOn } from './submissions.ts';
import {
  createTestApp,
  createTestMerchant,
  createTestUser,
  type TestMerchant,
} from './test-merchant.ts';
import { startTestService, type TestService } from './test-service.ts';
import { walletBalance } from './wallet-balance.ts';
import { newWebhook } from './webhook-state.ts';

export { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
export * from './api-client.ts';
export * from './eventually.ts';
export * from './payment-kinds.ts';
export * from './payments.ts';
export * from './refusals.ts';
export * from './submissions.ts';
export type { TestMerchant, TestUser } from './test-merchant.ts';

/** A logger that writes nothing. */
export const SILENT = winston.createLogger({ silent: true });

/** The arguments of a function after its first, or after its first two. */
type Rest<Fn extends (...args: never) => unknown> =
  Parameters<Fn> extends [unknown, ...infer Others] ? Others : never;
type Rest2<Fn extends (...args: never) => unknown> =
  Parameters<Fn> extends [unknown, unknown, ...infer Others] ? Others : never;

/** A database with a merchant, and what tests do with the two. */
export class World {
  declare database: Database;
  declare config: Config;
  /** Who does everything below, unless a test names another one. */
  declare merchant: TestMerchant;

  get merchantId(): number {
    return this.merchant.merchant_id;
  }

  // Queries.
  rows<Row>(sql: string, bindings?: object): Promise<Row[]> {
    return rows<Row>(this.database, sql, bindings);
  }
  firstRow<Row>(sql: string, bindings?: object): Promise<Row | undefined> {
    return firstRow<Row>(this.database, sql, bindings);
  }
  /** Changes what the service may not change, and what triggers keep. */
  rewrite(sql: string, bindings?: object): Promise<void> {
    return rewrite(this.database, sql, bindings);
  }
  transaction<Result>(work: (trx: Transaction) => Promise<Result>): Promise<Result> {
    return inTransaction(this.database, work);
  }
  countOf(...args: Rest<typeof payments.countOf>) {
    return payments.countOf(this.database, ...args);
  }

  /** The parts of a process on this database, without a server or a worker. */
  parts(config = this.config): Service {
    return createService(config, SILENT, this.database);
  }

  // Merchants and their people.
  newMerchant(...args: Rest<typeof createTestMerchant>): Promise<TestMerchant> {
    return createTestMerchant(this, ...args);
  }
  newUser(...args: Rest2<typeof createTestUser>) {
    return createTestUser(this, this.merchantId, ...args);
  }
  newApp(...args: Rest2<typeof createTestApp>) {
    return createTestApp(this, this.merchantId, ...args);
  }
  assign(...args: Rest2<typeof assign>) {
    return assign(this.database, this.merchantId, ...args);
  }
  securityEvents(...args: Rest<typeof securityEvents>) {
    return securityEvents(this.database, ...args);
  }
  securityKindsOf(...args: Rest<typeof kindsOf>) {
    return kindsOf(this.database, ...args);
  }

  // Payments as they were just accepted.
  newCollection(...args: Rest2<typeof payments.newCollection>) {
    return payments.newCollection(this.database, this.merchant, ...args);
  }
  newCompletedCollection(...args: Rest2<typeof kinds.newCompletedCollection>) {
    return kinds.newCompletedCollection(this.database, this.merchant, ...args);
  }
  newPayout(...args: Rest2<typeof kinds.newPayout>) {
    return kinds.newPayout(this.database, this.merchant, ...args);
  }
  newReversal(...args: Rest2<typeof kinds.newReversal>) {
    return kinds.newReversal(this.database, this.merchant, ...args);
  }
  newReturn() {
    return payments.newReturn(this.database, this.merchant);
  }
  newPayment(kind: Parameters<typeof kinds.newPayment>[0]) {
    return kinds.newPayment(kind, this.database, this.merchant);
  }
  topUp(amountCents: number, reference: string) {
    return topUpPayoutWallet(this.database, this.merchantId, amountCents, reference);
  }

  // What happens to them.
  learn(...args: Rest<typeof payments.learn>) {
    return payments.learn(this.database, ...args);
  }
  reread<P extends AnyPayment>(payment: P): Promise<P> {
    return payments.reread(this.database, payment);
  }
  workOn(payment: AnyPayment) {
    return workOn(this.database, payment);
  }
  historyOf(...args: Rest<typeof payments.historyOf>) {
    return payments.historyOf(this.database, ...args);
  }
  outboxOf(rowId: string) {
    return payments.outboxOf(this.database, rowId);
  }
  keepCallback(...args: Rest<typeof keepCallback>) {
    return keepCallback(this.database, ...args);
  }
  callbacksOf(payment: { id: string }) {
    return callbacksOf(this.database, payment);
  }

  // Discrepancies.
  hear<P extends AnyPayment>(payment: P, ...news: Parameters<typeof scene.hear>[2][]) {
    return scene.hear(this, payment, ...news);
  }
  refund(payout: AnyPayment) {
    return scene.refund(this, payout);
  }
  passDeadline(payment: AnyPayment) {
    return scene.passDeadline(this, payment);
  }
  makeOverdue<P extends AnyPayment>(payment: P): Promise<P> {
    return scene.makeOverdue(this, payment);
  }
  neverTake<P extends AnyPayment>(payment: P): Promise<P> {
    return scene.neverTake(this, payment);
  }
  discrepancyOf(...args: Rest<typeof scene.discrepancyOf>) {
    return scene.discrepancyOf(this, ...args);
  }
  discrepanciesOf(paymentId: string) {
    return payments.discrepanciesOf(this.database, paymentId);
  }
  resolve(...args: Rest<typeof scene.resolve>) {
    return scene.resolve(this, ...args);
  }
  eventsOf(payment: AnyPayment) {
    return scene.eventsOf(this, payment);
  }
  returnsOf() {
    return scene.returnsOf(this);
  }

  // The books.
  booksOf() {
    return scene.booksOf(this);
  }
  suspenseOwed() {
    return scene.suspenseOwed(this);
  }
  accountBalance(account: string) {
    return accountBalance(this.database, this.merchantId, account);
  }
  payoutBooks() {
    return payoutBooks(this.database, this.merchantId);
  }
  walletBalance(kind: WalletKind) {
    return walletBalance(this.database, this.merchantId, kind);
  }
  /** Proves the books of the merchant. */
  expectRightBooks() {
    return expectRightBooks(this.database, this.merchantId);
  }
  /** Proves the books of all merchants. */
  expectAllRightBooks() {
    return expectRightBooks(this.database);
  }
  /** Proves the journals and wallets of all merchants. */
  expectSoundLedger() {
    return expectSoundLedger(this.database);
  }

  // Webhooks.
  newEvent(...args: Rest2<typeof newEvent>) {
    return newEvent(this.database, this.merchant, ...args);
  }
  newWebhook(...args: Rest2<typeof newWebhook>) {
    return newWebhook(this.database, this.merchant, ...args);
  }
  deliveryOf(eventId: string) {
    return deliveryOf(this.database, eventId);
  }
  deliveriesOf() {
    return deliveriesOf(this.database, this.merchantId);
  }
  makeDue(eventId: string) {
    return makeDue(this.database, eventId);
  }
  makeEndpoint(...args: Rest2<typeof makeEndpoint>) {
    return makeEndpoint(this.database, this.merchantId, ...args);
  }
  endpointOf(endpoint: string) {
    return endpointOf(this.database, this.merchantId, endpoint);
  }
}

/** When a world gets its merchant: before each test, once before all, or never. */
type MerchantFor = 'each' | 'all' | 'none';

export type StoreWorld = World & payments.TestStore;

/**
 * Gives the tests of a suite a database, and each test a merchant, who has no token unless `token` is
 * set. Each test gets a database of its own if `fresh` is set. The database goes after all hooks of
 * the suite.
 */
export function useStore(
  options: { merchant?: MerchantFor; fresh?: boolean; token?: boolean } = {},
): StoreWorld {
  const { merchant = 'each', fresh = false, token = false } = options;
  const store = new World() as StoreWorld;
  const open = async () => {
    Object.assign(store, await payments.createTestStore());
  };
  const end = () => store.drop();
  useParts({ open, end, each: fresh });
  useMerchant(store, fresh ? 'each' : merchant, { token });
  return store;
}

/** Registers the start and the end of a part of a suite. The end comes after the suite's own hooks. */
function useParts(part: { open(): Promise<void>; end(): Promise<void>; each: boolean }): void {
  before(async function () {
    const suite = this.test!.parent!;
    if (part.each) suite.afterEach(part.end);
    else suite.afterAll(part.end);
    if (!part.each) await part.open();
  });
  if (part.each) beforeEach(part.open);
}

function useMerchant(world: World, when: MerchantFor, options: { token?: boolean } = {}): void {
  const make = async () => {
    world.merchant = await world.newMerchant(options);
  };
  if (when === 'all') before(make);
  if (when === 'each') beforeEach(make);
}

type ServiceOptions = NonNullable<Parameters<typeof startTestService>[0]>;

/** A service with a merchant, and what its programs and people ask. */
export class ServiceWorld extends World {
  declare origin: string;
  declare baseUrl: string;

  /** Asks as the merchant's app, or with another token. */
  clientOf(asker: { access: string }) {
    return clientOf(this, asker);
  }
  get client() {
    return clientOf(this, this.merchant);
  }
}

/**
 * Gives the tests of a suite a whole service, and each test a merchant. No worker runs unless the
 * options name some. The service ends after all hooks of the suite.
 */
export function useService(
  options: ServiceOptions & { merchant?: MerchantFor } = {},
): ServiceWorld & TestService {
  const { merchant = 'each', ...started } = options;
  const service = new ServiceWorld() as ServiceWorld & TestService;
  const open = async () => {
    Object.assign(service, await startTestService({ workers: [], ...started }));
  };
  useParts({ open, end: () => service.close(), each: false });
  useMerchant(service, merchant);
  return service;
}
