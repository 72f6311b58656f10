import { appVerbs } from './app.ts';
import { channelVerbs } from './channel.ts';
import type { Noun } from './command.ts';
import { ledgerVerbs } from './ledger.ts';
import { merchantVerbs } from './merchant.ts';
import { reconcileVerbs } from './reconcile.ts';
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
  channel: { summary: 'Ways to move money', verbs: channelVerbs },
  reconcile: {
    summary: "The gateway's statements against the books",
    verbs: reconcileVerbs,
    onlyVerb: 'run',
  },
  secrets: { summary: 'What is stored encrypted', verbs: secretsVerbs },
};
