import type { z } from 'zod';
import type { DriverSettings, SettingShape } from './setting-types.ts';
import { channelSettings, GATEWAYS, PAYMENTS } from './settings/gateways.ts';
import { API, CONSOLE, PROCESS } from './settings/service.ts';
import { KEYS, STORES } from './settings/stores.ts';
import { WEBHOOKS, WORKERS } from './settings/workers.ts';

/**
 * Every environment variable is in one of the files of `settings/`, or in the folder of the gateway
 * driver that reads it. The types, the checks at boot, `.env.example` and `docs/settings.md` are
 * made from them: `npm run settings` writes the two files. Rules across variables are in
 * `setting-rules.ts`.
 */

/** Returns the settings by topic, in the order in which the documents show them. */
export function topicsWith(drivers: readonly DriverSettings[]) {
  const usual = drivers.flatMap(({ name, usualChannels = [] }) =>
    usualChannels.map((code) => `${code}=${name}`),
  );
  const ofDrivers: SettingShape = Object.assign({}, ...drivers.map(({ settings }) => settings));
  return {
    'Every process': PROCESS,
    'The API': API,
    'The support console': CONSOLE,
    'PostgreSQL and Redis': STORES,
    Keys: KEYS,
    Gateways: { ...channelSettings(usual.join()), ...GATEWAYS, ...ofDrivers },
    Payments: PAYMENTS,
    Workers: WORKERS,
    Webhooks: WEBHOOKS,
  };
}

/** The settings of the service itself, by name. */
export type Settings = z.infer<
  z.ZodObject<
    typeof PROCESS &
      typeof API &
      typeof CONSOLE &
      typeof STORES &
      typeof KEYS &
      ReturnType<typeof channelSettings> &
      typeof GATEWAYS &
      typeof PAYMENTS &
      typeof WORKERS &
      typeof WEBHOOKS
  >
>;

/** Returns every setting by its name, also the settings of drivers. */
export function settingsWith(drivers: readonly DriverSettings[]): SettingShape {
  return Object.assign({}, ...Object.values(topicsWith(drivers)));
}
