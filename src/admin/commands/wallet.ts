import { walletOperations } from '../../operations/wallet.ts';
import { verbsOf } from '../operation-verb.ts';
import type { Noun } from '../verb.ts';

export const wallet: Noun = {
  summary: "Money that the operator books on a merchant's wallets",
  verbs: verbsOf(walletOperations),
};
