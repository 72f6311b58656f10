import { completionOf } from './commands/completion.ts';
import type { Noun, Nouns } from './verb.ts';

/** All that the command line can do, in the order of --help. A noun is loaded when it is named. */
const NOUNS: Readonly<Record<string, () => Promise<Noun>>> = {
  merchant: async () => (await import('./commands/merchant.ts')).merchant,
  user: async () => (await import('./commands/user.ts')).user,
  app: async () => (await import('./commands/app.ts')).app,
  wallet: async () => (await import('./commands/wallet.ts')).wallet,
  ledger: async () => (await import('./commands/ledger.ts')).ledger,
  payment: async () => (await import('./commands/payment.ts')).payment,
  discrepancy: async () => (await import('./commands/discrepancy.ts')).discrepancy,
  channel: async () => (await import('./commands/channel.ts')).channel,
  jobs: async () => (await import('./commands/jobs.ts')).jobs,
  queues: async () => (await import('./commands/queues.ts')).queues,
  webhooks: async () => (await import('./commands/webhooks.ts')).webhooks,
  audit: async () => (await import('./commands/audit.ts')).audit,
  security: async () => (await import('./commands/security.ts')).security,
  reconcile: async () => (await import('./commands/reconcile.ts')).reconcile,
  daraja: async () => (await import('./commands/daraja.ts')).daraja,
  payee: async () => (await import('./commands/payee.ts')).payee,
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
  const names = Object.hasOwn(NOUNS, first) ? [first] : Object.keys(NOUNS);
  const loaded = names.map(async (name) => [name, await NOUNS[name]!()] as const);
  const nouns = Object.fromEntries(await Promise.all(loaded));
  return names.length === 1 ? nouns : { ...nouns, completion: completionOf(nouns) };
}
