import { got } from 'got';
import type { Database } from '../../../src/connections/database.ts';
import { hearBalances } from '../../../src/domain/gateway-accounts/balances.ts';
import type { SandboxMerchant } from '../seed.ts';
import type { SandboxStaff } from '../seed-staff.ts';
import { makeFailedJobs } from './failed-jobs.ts';
import { AIRTEL_MONEY, GATEWAY, makeTroubledPayments } from './payments.ts';
import { letStaffWork } from './staff-at-work.ts';

/** Where trouble is made, and for whom. */
export interface TroubleOptions {
  baseUrl: string;
  consoleUrl: string;
  /** The driver of each channel. */
  channels: ReadonlyMap<number, string>;
  database: Database;
  /** As the owner of the tables: the service may not change a deadline. */
  owner: Database;
  merchant: SandboxMerchant;
  /** Where the merchant has a server that works. Another one of the merchant's is down. */
  receiverUrl: string;
  staff: { admin: SandboxStaff; support: SandboxStaff };
  say(line: string): void;
}

/**
 * Makes the trouble that support has to do with, so that every page of the console shows something
 * to practise on. It is all of one merchant, whom nothing else is about.
 * @throws EmbeddedServiceError when a part of it does not happen
 */
export async function makeTrouble(options: TroubleOptions): Promise<void> {
  const { baseUrl, consoleUrl, channels, database, owner, merchant, receiverUrl, staff, say } =
    options;
  if (channels.get(AIRTEL_MONEY) !== GATEWAY) {
    say(`\nMade no trouble: CHANNELS is without ${AIRTEL_MONEY}=${GATEWAY}`);
    return;
  }
  await Promise.all([
    makeTroubledPayments(baseUrl, { database, owner }, merchant),
    makeFailedJobs(database, merchant, receiverUrl).then(() =>
      letStaffWork(consoleUrl, merchant, staff),
    ),
    guessPassword(baseUrl, merchant),
    tellCharge(database),
  ]);
  say(`\nMade trouble for Shida Traders (merchant ${merchant.merchant_id}), to practise support on:
  the console shows it, and docs/sandbox.md says where`);
}

const CHARGE_CENTS = 2_240;

/** The gateway tells that it has charged something, and nobody has booked it. */
async function tellCharge(database: Database): Promise<void> {
  const told = { current_cents: -CHARGE_CENTS, available_cents: -CHARGE_CENTS };
  await hearBalances(database, GATEWAY, [{ sub_account: 'charges', ...told }]);
}

/** Somebody tries a person's password. */
async function guessPassword(baseUrl: string, { users }: SandboxMerchant): Promise<void> {
  const json = { email: users[0]!.email, password: 'Password1' };
  const options = { json, throwHttpErrors: false, retry: { limit: 0 } };
  for (let tries = 0; tries < 2; tries += 1) await got.post(`${baseUrl}/auth/login`, options);
}
