import {
  type AmountRule,
  CHANNELS,
  type Channel,
  type ChannelRoute,
  channelByCode,
} from '../../domain/channels/channel.ts';
import { type ChannelPause, channelPauses } from '../../domain/channels/channel-store.ts';
import { type ChannelTrouble, readTroubles } from '../../domain/channels/operator-trouble.ts';
import { type Float, readFloats } from '../../domain/gateway-accounts/float-store.ts';
import { kes } from '../../domain/money.ts';
import {
  isPolledOnly,
  type LearnedLately,
  readLearnedLately,
} from '../../domain/settlement/lately.ts';
import { VEILED } from '../../domain/veil.ts';
import { channelOperations } from '../../operations/channel.ts';
import type { Service } from '../../service/service.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { Badge } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';

const CHANNEL: Resource<Channel> = {
  find: async ({ params: { code = '' } }) => {
    const channel = /^\d{1,9}$/.test(code) ? channelByCode(Number(code)) : undefined;
    if (!channel) throw new ConsoleError(404, 'There is no such channel');
    return channel;
  },
  nameOf: ({ code, name }) => `${name} (${code})`,
  pathOf: () => pathTo('channels'),
};
const place = { resource: CHANNEL, pages: pagesOf(channelOperations) };

/** The ways to move money, and what stops them. They are nobody's data, so no read is recorded. */
export const channelHandlers = {
  channels: async (visit: Visit): Promise<Answer> => {
    const channels = await readChannels(visit.service);
    return { page: <ChannelsPage visit={visit} channels={channels} />, title: 'Channels' };
  },

  ...operationHandlers('channelPause', { ...place, part: 'pause' }),
  ...operationHandlers('channelResume', { ...place, part: 'resume' }),
};

/** A channel, and everything that is known of how it goes. */
interface ChannelState extends Channel {
  /** Null: nothing is configured to carry it. */
  driver: string | null;
  route: ChannelRoute;
  pause: ChannelPause | null;
  /** The floats that the channel's accounts have told. The operator wants an alert below `limitCents`. */
  floats: (Float & { limitCents: number | null })[];
  trouble: ChannelTrouble | null;
  /** Set when payments end by questions only: callbacks do not arrive. */
  polledOnly: LearnedLately | null;
}

/** Reads all channels, those that are configured or paused first. */
async function readChannels(service: Service): Promise<ChannelState[]> {
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

const WHOLE_SHILLING_CENTS = 100;

/** The page of all channels. Those without a driver only have their names. */
function ChannelsPage({ visit, channels }: { visit: Visit; channels: ChannelState[] }) {
  const inUse = channels.filter(({ driver, pause }) => driver !== null || pause !== null);
  const others = channels.filter((channel) => !inUse.includes(channel));
  return (
    <>
      <h1>Channels</h1>
      {inUse.length === 0 ? (
        <p class="warning">
          No channel has a driver, so nobody can pay. Set <code>CHANNELS</code>, as the handbook
          says, and restart.
        </p>
      ) : (
        <Table rows={inUse} columns={columnsFor(visit)} caption="Channels in use" />
      )}
      <h2>Without a driver</h2>
      <p class="card soft">
        {others.map(({ code, name }) => `${name} (${code})`).join(', ') || 'None'}
      </p>
    </>
  );
}

const columnsFor = (visit: Visit): Column<ChannelState>[] => [
  {
    heading: 'Channel',
    cell: ({ code, name, driver }) => (
      <>
        {name} ({code}), {driver ?? 'no driver'}
      </>
    ),
  },
  { heading: 'State', cell: (state) => <State {...state} /> },
  { heading: 'Amounts', cell: (state) => <Limits {...state} /> },
  { heading: 'Float', cell: (state) => <Floats {...state} /> },
  { heading: 'Trouble', cell: (state) => <Trouble {...state} /> },
  { heading: 'Do', cell: (state) => <Moves visit={visit} state={state} /> },
];

function State({ driver, pause }: ChannelState) {
  if (!pause && driver === null) return <Badge tone="plain" words="not in use" />;
  if (!pause) return <Badge tone="good" words="open" />;
  const { what, paused_at, paused_by, reason } = pause;
  return (
    <>
      <Badge tone="bad" words={`paused: ${what?.join(', ') ?? 'everything'}`} /> since{' '}
      <Time at={paused_at} />
      {paused_by !== null && ` by ${paused_by}: ${VEILED.text(reason ?? '')}`}
    </>
  );
}

function Limits({ route }: ChannelState) {
  return (
    <>
      {Object.entries(route).map(([kind, { amounts }]) => (
        <div>
          {kind}: {limitsOf(amounts)}
        </div>
      ))}
    </>
  );
}

function limitsOf({ minCents, maxCents, stepCents }: AmountRule): string {
  const whole = stepCents >= WHOLE_SHILLING_CENTS ? ', whole shillings' : '';
  return `${kes(minCents)} to ${kes(maxCents)}${whole}`;
}

function Floats({ floats }: ChannelState) {
  if (floats.length === 0) return <span class="soft">not known</span>;
  return (
    <>
      {floats.map(({ gateway, available_cents, heard_at, limitCents }) => (
        <div>
          {gateway}: {kes(available_cents)}{' '}
          {limitCents !== null && available_cents < limitCents && (
            <Badge tone="bad" words={`below ${kes(limitCents)}`} />
          )}{' '}
          at <Time at={heard_at} />
        </div>
      ))}
    </>
  );
}

function Trouble({ trouble, polledOnly }: ChannelState) {
  if (!trouble && !polledOnly) return <span class="soft">none</span>;
  return (
    <>
      {trouble && (
        <div>
          {trouble.count} of our own in the last day, the last at <Time at={trouble.last_at} />:{' '}
          {VEILED.text(trouble.last_trouble)}
        </div>
      )}
      {polledOnly && (
        <div>
          Callbacks do not arrive: {polledOnly.by_poll} payments of the last half hour ended by
          questions.
        </div>
      )}
    </>
  );
}

function Moves({ visit, state: { code, name, pause } }: { visit: Visit; state: ChannelState }) {
  if (!mayUse(visit.member.role, 'channelPauseForm')) return <span class="soft">admins only</span>;
  return (
    <>
      {(pause === null || pause.what !== null) && (
        <a href={pathTo('channelPauseForm', { code })} aria-label={`Pause ${name}`}>
          Pause
        </a>
      )}{' '}
      {pause && (
        <a href={pathTo('channelResumeForm', { code })} aria-label={`Resume ${name}`}>
          Resume
        </a>
      )}
    </>
  );
}
