import { app } from './commands/app.ts';
import { audit } from './commands/audit.ts';
import { channel } from './commands/channel.ts';
import { discrepancy } from './commands/discrepancy.ts';
import { jobs } from './commands/jobs.ts';
import { ledger } from './commands/ledger.ts';
import { merchant } from './commands/merchant.ts';
import { payment } from './commands/payment.ts';
import { queues } from './commands/queues.ts';
import { reconcile } from './commands/reconcile.ts';
import { restore } from './commands/restore.ts';
import { retention } from './commands/retention.ts';
import { secrets } from './commands/secrets.ts';
import { user } from './commands/user.ts';
import { wallet } from './commands/wallet.ts';
import { webhooks } from './commands/webhooks.ts';
import type { Noun } from './verb.ts';

/** All that the command line can do, in the order of --help. */
export const NOUNS: Readonly<Record<string, Noun>> = {
  merchant,
  user,
  app,
  wallet,
  ledger,
  payment,
  discrepancy,
  channel,
  jobs,
  queues,
  webhooks,
  audit,
  reconcile,
  restore,
  retention,
  secrets,
};
