import { completionOf } from './commands/completion.ts';
import type { Noun, Nouns } from './verb.ts';

/** The nouns of the command line, in the order of --help. A noun is loaded when it is named. */
const NOUNS: Readonly<Record<string, () => Promise<Noun>>> = {
  merchant: async () => (await import('./commands/merchant.ts')).merchant,
  user: async () => (await import('./commands/user.ts')).user,
  app: async () => (await import('./commands/app.ts')).app,
  wallet: async () => (await import('./commands/wallet.ts')).wallet,
  ledger: async () => (await import('./commands/ledger.ts')).ledger,
  payment: async () => (await import('./commands/payment.ts')).paymentNoun,
  discrepancy: async () => (await import('./commands/discrepancy.ts')).discrepancy,
  approval: async () => (await import('./commands/approval.ts')).approval,
  channel: async () => (await import('./commands/channel.ts')).channel,
  jobs: async () => (await import('./commands/jobs.ts')).jobs,
  queues: async () => (await import('./commands/queues.ts')).queues,
  webhooks: async () => (await import('./commands/webhooks.ts')).webhooks,
  audit: async () => (await import('./commands/audit.ts')).audit,
  security: async () => (await import('./commands/security.ts')).security,
  reconcile: async () => (await import('./commands/reconcile.ts')).reconcile,
};

/** The nouns after the nouns of the gateway drivers. */
const LAST_NOUNS: typeof NOUNS = {
  restore: async () => (await import('./commands/restore.ts')).restore,
  retention: async () => (await import('./commands/retention.ts')).retention,
  secrets: async () => (await import('./commands/secrets.ts')).secrets,
  staff: async () => (await import('./commands/staff.ts')).staff,
};

/**
 * Loads the noun that the arguments begin with. Loads all nouns if they begin with none of these,
 * as --help and the completion need all.
 */
export async function loadNouns([first = '']: readonly string[] = []): Promise<Nouns> {
  for (const nouns of [NOUNS, LAST_NOUNS]) {
    if (Object.hasOwn(nouns, first)) return { [first]: await nouns[first]!() };
  }
  const { driverNouns } = await import('./commands/driver-nouns.ts');
  if (Object.hasOwn(driverNouns, first)) return { [first]: driverNouns[first]! };
  const nouns = { ...(await loadAll(NOUNS)), ...driverNouns, ...(await loadAll(LAST_NOUNS)) };
  return { ...nouns, completion: completionOf(nouns) };
}

async function loadAll(nouns: typeof NOUNS): Promise<Nouns> {
  const loaded = Object.entries(nouns).map(async ([name, load]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(loaded));
}
