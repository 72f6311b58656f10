import {
  CHANNELS,
  type Channel,
  type ChannelRoute,
  channelByCode,
} from '../../domain/channels/channel.ts';
import { type ChannelPause, channelPauses } from '../../domain/channels/channel-store.ts';
import { type ChannelTrouble, readTroubles } from '../../domain/channels/operator-trouble.ts';
import { type Float, readFloats } from '../../domain/gateway-accounts/float-store.ts';
import {
  isPolledOnly,
  type LearnedLately,
  readLearnedLately,
} from '../../domain/settlement/lately.ts';
import type { Service } from '../../service/service.ts';
import { ConsoleError, type Visit } from '../visit.ts';

/** A channel, and everything that is known of how it goes. */
export interface ChannelState extends Channel {
  /** Null: nothing is configured to carry it. */
  driver: string | null;
  route: ChannelRoute;
  pause: ChannelPause | null;
  /** Of its accounts that have told it. `limitCents` is where the operator wants an alert. */
  floats: (Float & { limitCents: number | null })[];
  trouble: ChannelTrouble | null;
  /** Set when payments end by questions only: callbacks do not arrive. */
  polledOnly: LearnedLately | null;
}

/** Reads all channels, those that are configured or paused first. */
export async function readChannels(service: Service): Promise<ChannelState[]> {
  const { database, gateways } = service;
  const [pauses, floats, troubles, learned] = await Promise.all([
    channelPauses(database),
    readFloats(database),
    readTroubles(database, [...gateways.keys()]),
    readLearnedLately(database),
  ]);
  const states = CHANNELS.map((channel): ChannelState => {
    const { code } = channel;
    const route = service.channels.get(code) ?? {};
    return {
      ...channel,
      route,
      driver: service.config.channels.get(code) ?? null,
      pause: pauses.get(code) ?? null,
      floats: floatsOf(service, route, floats),
      trouble: troubles.find((each) => each.channel === code) ?? null,
      polledOnly: learned.find((each) => each.channel === code && isPolledOnly(each)) ?? null,
    };
  });
  const isInUse = ({ driver, pause }: ChannelState) => driver !== null || pause !== null;
  return [...states.filter(isInUse), ...states.filter((state) => !isInUse(state))];
}

function floatsOf({ gateways }: Service, route: ChannelRoute, floats: Float[]) {
  const accounts = new Set(Object.values(route).map(({ gateway }) => gateway));
  return floats
    .filter(({ gateway }) => accounts.has(gateway))
    .map((float) => {
      const watch = gateways.get(float.gateway)?.float;
      return { ...float, limitCents: watch?.alertBelowCents ?? null };
    });
}

/** Returns the channel that the address names. @throws ConsoleError when it names none */
export function channelIn({ params: { code = '' } }: Pick<Visit, 'params'>): Channel {
  const channel = /^\d{1,9}$/.test(code) ? channelByCode(Number(code)) : undefined;
  if (!channel) throw new ConsoleError(404, 'There is no such channel');
  return channel;
}
