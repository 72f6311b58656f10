import type { AccountTools } from '../gateway.ts';
import type { DarajaOptions } from './daraja-gateway.ts';
import { accountOf } from './daraja-gateway.ts';
import { payeeName } from './payee-name.ts';
import { registerPull } from './pull.ts';

/** Creates what operators do with a shortcode besides payments. */
export function createDarajaTools(options: DarajaOptions): AccountTools {
  const account = accountOf(options);
  return {
    check: async () => [],
    ...(account.settings.nominatedNumber !== null && {
      register: async (callbackUrl: string) => {
        const answer = await registerPull(account, callbackUrl);
        return answer.outcome === 'registered' ? null : answer.reason;
      },
    }),
    payeeName: async (type, number) => {
      const answer = await payeeName(account, type, number);
      return answer.outcome === 'named' ? { name: answer.name } : { problem: answer.reason };
    },
  };
}
