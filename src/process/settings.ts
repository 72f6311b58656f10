import { z } from 'zod';
import { GATEWAYS, PAYMENTS } from './settings/gateways.ts';
import { API, CONSOLE, PROCESS } from './settings/service.ts';
import { KEYS, STORES } from './settings/stores.ts';
import { WEBHOOKS, WORKERS } from './settings/workers.ts';

/**
 * Every environment variable is in one of the files of `settings/`, once. The types, the checks at
 * boot, `.env.example` and `docs/settings.md` are made from them: `npm run settings` writes the two
 * files. Rules across variables are in `setting-rules.ts`.
 */

/** The settings by topic, in the order in which the documents show them. */
export const TOPICS = {
  'Every process': PROCESS,
  'The API': API,
  'The support console': CONSOLE,
  'PostgreSQL and Redis': STORES,
  Keys: KEYS,
  Gateways: GATEWAYS,
  Payments: PAYMENTS,
  Workers: WORKERS,
  Webhooks: WEBHOOKS,
};

export const settings = z.object({
  ...PROCESS,
  ...API,
  ...CONSOLE,
  ...STORES,
  ...KEYS,
  ...GATEWAYS,
  ...PAYMENTS,
  ...WORKERS,
  ...WEBHOOKS,
});

export type Settings = z.infer<typeof settings>;
