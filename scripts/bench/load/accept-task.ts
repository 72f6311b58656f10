import { openDatabase } from '../../../src/connections/database.ts';
import { createCollection } from '../../../src/domain/collections/create-collection.ts';
import { createPayout } from '../../../src/domain/payouts/create-payout.ts';
import type { Work } from './order.ts';
import type { Task } from './work.ts';

const AMOUNT_CENTS = 25_000;
const RATE = { bps: 150, fixedCents: 0 };
const DEADLINE_MS = 600_000;
const MPESA_CHANNEL = 63_902;
const PHONES_COUNT = 10_000;
/** Payments of such a phone succeed at once at the simulator. */
const QUIET_ENDING = '678';

/** Accepts payments as the web process does in the end, straight in the database. */
export function acceptTask(work: Work & { kind: 'accept' }): Task {
  const { payees, payments, tag, callbackUrl } = work;
  const database = openDatabase(work.databaseUrl, work.poolMax, 'malipo-bench');
  return {
    run: async (index) => {
      // Every merchant gets each kind in turn.
      const kind = payments[Math.floor(index / payees.length) % payments.length];
      const common = {
        ...payees[index % payees.length]!,
        amount_cents: AMOUNT_CENTS,
        ref_no: `${tag}-${index}`,
        callback_url: callbackUrl,
        channel: MPESA_CHANNEL,
        gateway: 'simulator',
        rate: RATE,
        deadline_ms: DEADLINE_MS,
      };
      const phone = phoneOf(index);
      await (kind === 'payout'
        ? createPayout(database, { ...common, payto: phone, category: 'other', narration: '' })
        : createCollection(database, { ...common, payfrom: phone, account_number: 'INV-7' }));
    },
    close: () => database.destroy(),
  };
}

function phoneOf(index: number): string {
  return `+25471${String(index % PHONES_COUNT).padStart(4, '0')}${QUIET_ENDING}`;
}
