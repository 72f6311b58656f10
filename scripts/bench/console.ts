import type { ROUTES, RouteName } from '../../src/console/routes.ts';
import { type ConsoleVisitor, visitConsole } from '../sandbox/console-visitor.ts';
import { findFreePort } from '../sandbox/processes/port.ts';
import { seedStaff } from '../sandbox/seed-staff.ts';
import { runTasks } from './load.ts';
import { BenchError } from './options.ts';
import { createMerchants } from './payments.ts';
import { measureInRounds } from './report.ts';
import { fillBySql } from './seed-by-sql.ts';
import { type Stage, startService } from './stage.ts';

const MERCHANTS_COUNT = 60;
/** What people wait for without thinking of waiting. */
const PAGE_LIMIT_MS = 300;
const TIMELINE_LIMIT_MS = 100;
const TIMELINES: readonly RouteName[] = ['payment', 'paymentLive'];
const REPEATS_COUNT = 10;
const WARM_UPS_COUNT = 2;
const DAY_MS = 86_400_000;

type GetRoute = {
  [Name in RouteName]: (typeof ROUTES)[Name]['method'] extends 'get' ? Name : never;
}[RouteName];

const LONG = '/payments/LONG_KIND/LONG_MERCHANT/LONG';
const PAYMENT = '/payments/KIND/MERCHANT/PAYMENT';
const ENDPOINT = '/webhook-endpoints/MERCHANT/https%3A%2F%2Fshop0.example';
const STATES = 'state=waiting state=replayed state=failed_again state=moved_on state=all';

/**
 * Addresses of every page, with the filters that people use. A word in capitals stands for a value
 * of the seed. A new page does not compile before it has one; 'none' has nothing to read.
 */
const CASES: Record<GetRoute, string> = {
  logInForm: 'none',
  passwordForm: 'none',
  otpForm: 'none',
  setUpForm: 'none',
  overview: '/',
  overviewFigures: '/overview/figures',
  overviewQueues: '/overview/queues',
  overviewOutcomes: '/overview/outcomes',
  search: `/search /search?q=PAYMENT /search?q=PHONE /search?q=REF /search?q=RECEIPT
    /search?q=EXTERNAL /search?q=MERCHANT /search?q=unknown /search?q=duka7 /search?merchant=MERCHANT`,
  waiting: '/waiting /waiting?why=overdue /waiting?kind=payout&merchant=MERCHANT',
  payment: `${PAYMENT} ${LONG}`,
  paymentLive: `${PAYMENT}/live ${LONG}/live`,
  paymentRevealed: 'none',
  paymentAskForm: '/payments/OPEN/ask',
  paymentReplayForm: `${LONG}/replay/JOB`,
  paymentResendForm: `${PAYMENT}/resend/PAYMENT`,
  merchants: '/merchants /merchants?q=duka5',
  merchant: '/merchants/MERCHANT',
  merchantRevealed: 'none',
  merchantChangeForm: '/merchants/MERCHANT/change/suspend',
  appNewForm: 'none',
  app: '/merchants/MERCHANT/apps/APP',
  appChangeForm: 'none',
  userNewForm: 'none',
  user: 'none',
  userDeactivateForm: 'none',
  userChangeForm: 'none',
  wallets: '/merchants/MERCHANT/wallets',
  walletTopupForm: '/merchants/MERCHANT/wallets/top-up',
  walletAdjustForm: '/merchants/MERCHANT/wallets/adjust',
  reconciliation: '/reconciliation',
  statementForm: '/reconciliation/new',
  statement: '/reconciliation/IMPORT',
  statementLive: '/reconciliation/IMPORT/live',
  suspense: '/suspense /suspense?merchant=MERCHANT',
  approvals: '/approvals',
  approval: '/approvals/APPROVAL',
  failedJobs: `/failed-jobs ${STATES.split(' ')
    .map((state) => `/failed-jobs?${state}`)
    .join(' ')}
    /failed-jobs?queue=polling-simulator /failed-jobs?error=bug /failed-jobs?error=unheard
    /failed-jobs?merchant=MERCHANT /failed-jobs?channel=63902 /failed-jobs?older=7d
    /failed-jobs?newer=24h /failed-jobs?queue=none /failed-jobs?bulk=BULK`,
  bulkReplayForm: `/failed-jobs/replay?all=yes /failed-jobs/replay?all=yes&merchant=MERCHANT
    /failed-jobs/replay?all=yes&error=bug /failed-jobs/replay?jobJOB=on`,
  bulkReplays: '/bulk-replays',
  bulkReplay: '/bulk-replays/BULK',
  bulkReplayLive: '/bulk-replays/BULK/live',
  discrepancies: `/discrepancies /discrepancies?kind=overdue /discrepancies?merchant=MERCHANT
    /discrepancies?state=resolved /discrepancies?older=7d`,
  discrepancy: '/discrepancies/DISCREPANCY',
  decideDiscrepancyForm: '/discrepancies/DISCREPANCY/decide?as=failed',
  channels: '/channels',
  channelPauseForm: '/channels/63902/pause',
  channelResumeForm: 'none',
  endpoints:
    '/webhook-endpoints /webhook-endpoints?merchant=MERCHANT /webhook-endpoints?state=held',
  endpoint: ENDPOINT,
  endpointRecoverForm: `${ENDPOINT}/recover?since=MONTH`,
  webhook: '/webhooks/PAYMENT',
  webhookRevealed: 'none',
  webhookResendForm: '/webhooks/PAYMENT/resend',
  securityEvents: `/security-events /security-events?kind=log_in_failed
    /security-events?merchant=MERCHANT /security-events?ip=196.201.214.9`,
  audit: `/audit /audit?actor=juma@x.example /audit?noun=webhooks /audit?merchant=MERCHANT
    /audit?subject=SUBJECT /audit?reads=yes`,
  auditCsv: '/audit/entries.csv?subject=SUBJECT',
};

/** Measures how long each page of the console takes, asked for by one person, among many rows. */
export async function measureConsole(stage: Stage): Promise<void> {
  const { findings, options, config, database } = stage;
  await createMerchants(stage, MERCHANTS_COUNT);
  const staff = await seedStaff(database, config.secretsKeys);
  const numbers = { rows: options.rows };
  const known = await fillBySql(stage, new URL('./console-seed.sql', import.meta.url), numbers);
  const port = String(await findFreePort());
  const origin = `http://127.0.0.1:${port}`;
  await startService(stage, {
    types: ['console'],
    env: { CONSOLE_PORT: port, CONSOLE_URL: origin },
  });
  const visitor = await visitConsole(origin, staff);
  const cases = consoleCases({ ...known, MONTH: dayAgo(30) });
  const figures = await measureInRounds(findings, cases, async ({ path }) => {
    const read = () => readPage(visitor, path);
    await runTasks(read, { concurrency: 1, count: WARM_UPS_COUNT });
    return runTasks(read, { concurrency: 1, count: REPEATS_COUNT });
  });
  for (const [index, figure] of figures.entries()) {
    const limitMs = TIMELINES.includes(cases[index]!.route) ? TIMELINE_LIMIT_MS : PAGE_LIMIT_MS;
    figure.perSecond = Number.NaN;
    if (figure.worstMs <= limitMs) continue;
    figure.tooSlow = figure.medianMs > limitMs ? 'median' : 'worst';
    if (figure.tooSlow === 'median') findings.problems.push(`${figure.name} is too slow`);
  }
  findings.notes.push(
    `among ${options.rows} payments of ${MERCHANTS_COUNT} merchants, freshly vacuumed; pages may take ${PAGE_LIMIT_MS} ms, a payment ${TIMELINE_LIMIT_MS} ms; slow statements are in postgres.log`,
  );
}

function consoleCases(known: Readonly<Record<string, string>>) {
  return (Object.entries(CASES) as [GetRoute, string][])
    .filter(([, paths]) => paths !== 'none')
    .flatMap(([route, paths]) =>
      paths.split(/\s+/).map((name) => {
        const path = name.replace(
          /\b[A-Z][A-Z_]{1,}\b|(?<=job)JOB/g,
          (word) => known[word] ?? word,
        );
        return { route, name, path };
      }),
    );
}

/** A search that finds one thing leads to it. */
async function readPage(visitor: ConsoleVisitor, path: string): Promise<void> {
  const answer = await visitor.read(path);
  await answer.text();
  if (answer.status >= 400) throw new BenchError(`HTTP status ${answer.status}`);
}

function dayAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}
