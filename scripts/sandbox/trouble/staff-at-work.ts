import { DAY_MS } from '../../../src/time.ts';
import { type ConsoleVisitor, nextOtpOf, visitConsole } from '../console-visitor.ts';
import type { SandboxMerchant } from '../seed.ts';
import type { SandboxStaff } from '../seed-staff.ts';
import { REPLAYED_ERROR } from './failed-jobs.ts';
import { AIRTEL_MONEY } from './payments.ts';
import { until } from './until.ts';

/** Co-operative Bank. No guide pays through it. */
const RESUMED_CHANNEL = 11;
const TOPUP = { wallet: 'payout', amount: '250000.00', reference: 'BANK-4711' };
const ISO_DAY_LENGTH = 10;

/** What two members of staff have done at the console before you came. */
export async function letStaffWork(
  origin: string,
  merchant: SandboxMerchant,
  staff: { admin: SandboxStaff; support: SandboxStaff },
): Promise<void> {
  const [admin, support] = await Promise.all([
    visitConsole(origin, staff.admin),
    visitConsole(origin, staff.support),
  ]);
  await Promise.all([workAsAdmin(admin, merchant), workAsSupport(support, merchant)]);
  await compareStatement(admin, support, () => nextOtpOf(staff.support));
}

async function workAsAdmin(admin: ConsoleVisitor, { merchant_id }: SandboxMerchant): Promise<void> {
  // It stays as it is when somebody has paused it before this sandbox was started.
  const isOpen = (await (await admin.read('/channels')).text()).includes(
    `"/channels/${RESUMED_CHANNEL}/pause"`,
  );
  if (isOpen) {
    const reason = 'The bank maintains its systems';
    await admin.submit(`/channels/${RESUMED_CHANNEL}/pause`, { reason });
    // Else merchants who try the sandbox could not pay through it.
    await admin.submit(`/channels/${RESUMED_CHANNEL}/resume`, { reason: 'The bank is back' });
  }
  const topup = `/merchants/${merchant_id}/wallets/top-up?${new URLSearchParams(TOPUP)}`;
  await admin.submit(topup, { ...TOPUP, reason: 'The transfer is on our account' });
}

async function workAsSupport(
  support: ConsoleVisitor,
  { merchant_id }: SandboxMerchant,
): Promise<void> {
  const filter = { all: 'yes', merchant: String(merchant_id), error: REPLAYED_ERROR };
  const replay = await support.submit(`/failed-jobs/replay?${new URLSearchParams(filter)}`, {
    rate: '10',
    reason: 'The name server is back',
  });
  await until('The end of a bulk replay', async () =>
    (await (await support.read(`${replay}/live`)).text()).includes('>done<'),
  );
}

/**
 * A statement of yesterday, before there was a sandbox, with a payment that nobody knows.
 * @param otp gives a one-time password of the one who compares what the other one has brought
 */
async function compareStatement(
  admin: ConsoleVisitor,
  support: ConsoleVisitor,
  otp: () => string,
): Promise<void> {
  const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, ISO_DAY_LENGTH);
  const lines = [
    'reference,trans_id,account,amount,completed_at',
    `,QK7SHIDA01,0733000999,2300.00,${day}T09:14:07Z`,
  ];
  const file = new File([lines.join('\n')], `airtel-${day}.csv`, { type: 'text/csv' });
  const path = await admin.submit('/reconciliation/new', {
    channel: String(AIRTEL_MONEY),
    from: day,
    to: day,
    kind: 'collection',
    columns: '',
    utc_offset: '+00:00',
    reason: 'Daily comparison',
    file,
  });
  // The file has news, so another member compares it.
  const agreement = { reason: 'I have seen the statement', otp: otp() };
  await support.submit(path, agreement, `${path}/run`);
  await until('The end of a comparison', async () =>
    (await (await support.read(path)).text()).includes('Lines that match'),
  );
}
