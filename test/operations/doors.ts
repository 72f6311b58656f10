import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { runAdmin } from '../support/admin-runs.ts';
import {
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
  type TestMember,
} from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { otpOf } from '../support/totp.ts';

export const REASON = 'Ticket 4711';

/** One operation, as it is asked for at both doors. */
export interface DoorCase<Thing> {
  /** The name of the operation. */
  name: string;
  /** Makes a thing that is like every other one that it makes. */
  make(): Promise<Thing>;
  /** The arguments of the command line, without the reason. */
  command(thing: Thing): string[];
  /** Standard input of the command line. */
  input?: string;
  /** The address of the console's form, and what is typed into it. */
  page(thing: Thing): string;
  form?(thing: Thing): Record<string, string>;
  /** Lets what was begun come to its end. */
  settle?(): Promise<unknown>;
  /** The lowest role that may do it. */
  role: 'admin' | 'support';
  /** What has changed, without what differs between two equal things. */
  effect(thing: Thing): Promise<unknown>;
  /** What the effect must have, besides being the same at both doors. */
  becomes?: object;
  /** Texts of one thing, with the words that stand for them in the comparison. */
  names(thing: Thing): Record<string, string> | Promise<Record<string, string>>;
}

/** The two doors of one installation. */
export interface Doors {
  test: TestConsole;
  admin: TestMember;
  support: TestMember;
  viewer: TestMember;
  /** Runs a command as a member, with the reason. */
  run(args: string[], member: TestMember, input?: string): ReturnType<typeof runAdmin>;
  /** Runs a command that changes nothing. */
  read(args: string[], member: TestMember): ReturnType<typeof runAdmin>;
  /** Opens a form and sends it, with the reason. */
  send(browser: ConsoleClient, path: string, fields?: Record<string, string>): SentForm;
  browserOf(member: TestMember): Promise<ConsoleClient>;
  newAdmin(): Promise<TestMember>;
  close(): Promise<void>;
}

type SentForm = Promise<{ status: number; text: string; location: string | null }>;

export async function openDoors(environment: NodeJS.ProcessEnv = {}): Promise<Doors> {
  const test = await startTestConsole(undefined, environment);
  const admin = await newMember(test, 'admin');
  const support = await newMember(test, 'support');
  const viewer = await newMember(test, 'viewer');
  const browsers = new Map<TestMember, Promise<ConsoleClient>>();
  const runAs = ({ token }: TestMember, args: string[], input = '') =>
    runAdmin(args, {
      input,
      env: { DATABASE_URL: test.testDatabase.url, MALIPO_STAFF_TOKEN: token, ...environment },
    });
  return {
    ...{ test, admin, support, viewer },
    run: (args, member, input) => runAs(member, [...args, '--reason', REASON], input),
    read: (args, member) => runAs(member, args),
    send: async (browser, path, fields = {}) => {
      const form = await browser.get(path);
      const version = /name="version" value="([^"]+)"/.exec(form.text)?.[1];
      return browser.post(path, { ...(version && { version }), reason: REASON, ...fields });
    },
    browserOf: (member) => {
      if (!browsers.has(member)) browsers.set(member, logIn(test, member));
      return browsers.get(member)!;
    },
    newAdmin: () => newMember(test, 'admin'),
    close: () => test.close(),
  };
}

/** The next one-time password of a member: each is good once. */
export function nextOtp({ secret }: TestMember): string {
  return otpOf(secret!);
}

/** Runs a case through both doors, and compares effect, audit and security events. */
export async function expectSameAtBothDoors<Thing>(
  doors: Doors,
  one: DoorCase<Thing>,
): Promise<void> {
  const { test, admin, run, send, browserOf } = doors;
  const database = test.testDatabase.database;
  const browser = await browserOf(admin);
  const ways: ((thing: Thing) => Promise<void>)[] = [
    async (thing) => {
      const { status, stderr } = await run([...one.command(thing), '--json'], admin, one.input);
      expect([status, stderr], `${one.name} at the command line`).to.deep.equal([0, '']);
    },
    async (thing) => {
      const { status, text } = await send(browser, one.page(thing), one.form?.(thing));
      expect([200, 303], `${one.name} at the console: ${text}`).to.include(status);
    },
  ];
  const seen: unknown[] = [];
  for (const way of ways) {
    const thing = await one.make();
    const before = await recordsOf(database);
    await way(thing);
    await one.settle?.();
    const after = await recordsOf(database);
    const left = {
      audit: after.audit.slice(before.audit.length),
      events: after.events.slice(before.events.length),
      effect: await one.effect(thing),
    };
    expect(left.audit, `${one.name} in the audit log`).to.have.length.above(0);
    if (one.becomes) expect(left.effect, one.name).to.deep.include(one.becomes);
    seen.push(withoutNames(left, await one.names(thing)));
  }
  expect(seen[1], one.name).to.deep.equal(seen[0]);
}

/** Fails unless both doors refuse a member of a lower role, and somebody without a reason. */
export async function expectRefusedAtBothDoors<Thing>(
  doors: Doors,
  one: DoorCase<Thing>,
): Promise<void> {
  const { test, viewer, support, admin, run, send, browserOf } = doors;
  const database = test.testDatabase.database;
  const lower = one.role === 'admin' ? support : viewer;
  const thing = await one.make();
  const before = await one.effect(thing);
  const { audit } = await recordsOf(database);
  const refused = await run(one.command(thing), lower, one.input);
  expect(refused.stderr, one.name).to.match(/^This needs the role /);
  const lowBrowser = await browserOf(lower);
  await lowBrowser.get('/');
  const forbidden = await send(lowBrowser, one.page(thing), one.form?.(thing));
  expect(forbidden.status, one.name).to.equal(403);
  const nameless = await runAdmin(one.command(thing), {
    env: { DATABASE_URL: test.testDatabase.url, MALIPO_STAFF_TOKEN: admin.token },
  });
  expect(nameless.stderr, one.name).to.include('--reason');
  const page = await send(await browserOf(admin), one.page(thing), {
    ...one.form?.(thing),
    reason: '',
  });
  expect([page.status, page.text.includes('Give a reason')], one.name).to.deep.equal([422, true]);
  expect((await recordsOf(database)).audit, one.name).to.deep.equal(audit);
  expect(await one.effect(thing), one.name).to.deep.equal(before);
}

async function recordsOf(database: TestConsole['service']['database']) {
  const audit = await rows<object>(
    database,
    `SELECT action, merchant_id, subject, reason, details, actor FROM audit_log
     WHERE reason IS NOT NULL ORDER BY happened_at, id`,
  );
  const events = await rows<object>(
    database,
    `SELECT kind, merchant_id, staff, detail FROM security_events
     WHERE kind NOT IN ('staff_refused') ORDER BY at, id`,
  );
  return { audit, events };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g;

function withoutNames(left: unknown, names: Record<string, string>): unknown {
  let text = JSON.stringify(left).replace(UUID, 'UUID').replace(MOMENT, 'MOMENT');
  // Longer ones first: one may be a part of another.
  const pairs = Object.entries(names).sort(([, a], [, b]) => b.length - a.length);
  for (const [word, value] of pairs) text = text.replaceAll(value, word);
  return JSON.parse(text.replace(/:(MERCHANT|APP)\b/g, ':"$1"'));
}
