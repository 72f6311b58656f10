import type { AccountTools } from '../gateway.ts';
import { checkAccount } from './checks/check-account.ts';
import type { DarajaOptions } from './daraja-gateway.ts';
import { accountOf } from './daraja-gateway.ts';
import { payeeName } from './payee-name.ts';
import { registerPull } from './pull.ts';

/** Creates what operators do with a shortcode besides payments. */
export function createDarajaTools(options: DarajaOptions): AccountTools {
  const account = accountOf(options);
  return {
    check: (addresses) => checkAccount(options, addresses),
    ...(account.settings.nominatedNumber !== null && {
      register: (callbackUrl: string) => registerPull(account, callbackUrl),
    }),
    payeeName: async (type, number) => {
      const answer = await payeeName(account, type, number);
      return answer.outcome === 'named' ? { name: answer.name } : { problem: answer.reason };
    },
  };
}
