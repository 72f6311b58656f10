import { appVerbs } from './app.ts';
import { channelVerbs } from './channel.ts';
import type { Noun } from './command.ts';
import { discrepancyVerbs } from './discrepancy.ts';
import { jobsVerbs } from './jobs.ts';
import { ledgerVerbs } from './ledger.ts';
import { merchantVerbs } from './merchant.ts';
import { paymentVerbs } from './payment.ts';
import { queuesVerbs } from './queues.ts';
import { reconcileVerbs } from './reconcile.ts';
import { restoreVerbs } from './restore.ts';
import { retentionVerbs } from './retention.ts';
import { secretsVerbs } from './secrets.ts';
import { userVerbs } from './user.ts';
import { walletVerbs } from './wallet.ts';

/** Everything that the command line can do. */
export const COMMANDS: Readonly<Record<string, Noun>> = {
  merchant: { summary: 'Businesses that take and make payments', verbs: merchantVerbs },
  user: { summary: 'People who log in for a merchant', verbs: userVerbs },
  app: { summary: "A merchant's programs, with their keys and secrets", verbs: appVerbs },
  wallet: { summary: "Money that the operator books on a merchant's wallets", verbs: walletVerbs },
  ledger: { summary: 'The books: every movement of money, entered twice', verbs: ledgerVerbs },
  payment: { summary: 'Payments of all merchants, for support', verbs: paymentVerbs },
  discrepancy: {
    summary: 'What does not add up, until somebody decides',
    verbs: discrepancyVerbs,
  },
  channel: { summary: 'Ways to move money', verbs: channelVerbs },
  jobs: { summary: 'Jobs that have failed for good', verbs: jobsVerbs },
  queues: { summary: 'Where jobs wait for workers', verbs: queuesVerbs },
  reconcile: {
    summary: "The gateway's statements against the books",
    verbs: reconcileVerbs,
    onlyVerb: 'run',
  },
  restore: { summary: 'The way back from a backup', verbs: restoreVerbs },
  retention: { summary: 'How long rows are kept', verbs: retentionVerbs },
  secrets: { summary: 'What is stored encrypted', verbs: secretsVerbs },
};
