import type { Driver, DriverDefinition, DriverParts, SettingsOf } from '../driver.ts';
import type { AccountTools, Gateway } from '../gateway.ts';
import { Pace } from '../pace.ts';
import { checkAccount } from './check-account.ts';
import { CALLBACK_ANSWER } from './checks.ts';
import { createDarajaClient } from './client.ts';
import { accountOf, createDarajaGateway, type DarajaOptions, nameOf } from './daraja-gateway.ts';
import { registerPull } from './pull.ts';
import { payeeName } from './questions.ts';
import { DARAJA_SETTINGS, darajaProductionRules, darajaRules } from './settings.ts';

/** M-PESA through Safaricom's Daraja. */
export const daraja: DriverDefinition<typeof DARAJA_SETTINGS> = {
  name: 'daraja',
  settings: DARAJA_SETTINGS,
  rules: darajaRules,
  productionRules: darajaProductionRules,
  callbackAnswer: CALLBACK_ANSWER,
  isConfigured: ({ DARAJA }) => DARAJA !== undefined,
  create: createDarajaDriver,
};

/** Creates the driver of all configured shortcodes. Each is an account of its own. */
function createDarajaDriver(
  settings: SettingsOf<typeof DARAJA_SETTINGS>,
  { tokens, timeoutMs }: DriverParts,
): Driver {
  const config = settings.DARAJA;
  if (!config) throw new Error('DARAJA is not configured');
  const gateways: Gateway[] = [];
  const tools = new Map<string, AccountTools>();
  for (const { shortcode, consumerKey, consumerSecret } of config.shortcodes.values()) {
    const client = createDarajaClient({
      baseUrl: config.baseUrl,
      consumerKey,
      consumerSecret,
      timeoutMs,
      tokenStore: tokens,
    });
    const options = { shortcode, config, client, pace: new Pace() };
    const gateway = createDarajaGateway({
      ...options,
      settlingWindowMs: settings.DARAJA_SETTLING_WINDOW_MS,
      answerWindowMs: settings.DARAJA_ANSWER_WINDOW_MS,
    });
    gateways.push(gateway);
    tools.set(gateway.name, createDarajaTools(options));
  }
  const { collections, payouts } = config;
  return {
    gateways,
    tools,
    routes: {
      ...(collections !== null && { collection: nameOf(collections) }),
      ...(payouts !== null && { payout: nameOf(payouts) }),
    },
  };
}

/** Creates the tools of operators for a shortcode. */
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
