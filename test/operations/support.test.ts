import { rows } from '../../src/connections/database.ts';
import { channelPauses } from '../../src/domain/channels/channel-store.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  openDoors,
} from './doors.ts';

const M_PESA = 63902;

describe('An operation of support at both doors', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors();
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  const channel = (
    verb: 'pause' | 'resume',
    { options = [], form = {} }: { options?: string[]; form?: Record<string, string> } = {},
  ): DoorCase<object> => ({
    name: `channel.${verb}`,
    make: async () => {
      await rows(database(), 'DELETE FROM paused_channels');
      const pause = 'INSERT INTO paused_channels (code) VALUES (:code)';
      if (verb === 'resume') await rows(database(), pause, { code: M_PESA });
      return {};
    },
    role: 'admin',
    command: () => ['channel', verb, String(M_PESA), ...options],
    page: () => `/channels/${M_PESA}/${verb}`,
    form: () => form,
    effect: async () => {
      const { paused_at: _, ...pause } = (await channelPauses(database())).get(M_PESA) ?? {};
      return pause;
    },
    names: () => ({}),
  });

  // biome-ignore lint/suspicious/noExplicitAny: each case has a thing of its own.
  const CASES: DoorCase<any>[] = [
    channel('pause'),
    channel('pause', { options: ['--only', 'payouts'], form: { only: 'payouts' } }),
    channel('resume'),
  ];

  for (const one of CASES) {
    it(`${one.name}: has one effect, and one line in the audit log`, () =>
      expectSameAtBothDoors(doors, one));

    it(`${one.name}: refuses a lower role, and a change without a reason`, () =>
      expectRefusedAtBothDoors(doors, one));
  }
});
