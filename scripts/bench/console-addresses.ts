import { ROUTES, type RouteName } from '../../src/console/routes.ts';
import { BenchError } from './options.ts';

export type GetRoute = {
  [Name in RouteName]: (typeof ROUTES)[Name]['method'] extends 'get' ? Name : never;
}[RouteName];

const LONG = '/payments/LONG_KIND/LONG_MERCHANT/LONG';
const PAYMENT = '/payments/KIND/MERCHANT/PAYMENT';
const MERCHANT = '/merchants/MERCHANT';
const ENDPOINT = '/webhook-endpoints/MERCHANT/https%3A%2F%2Fshop0.example';

/**
 * Addresses of every page, with the filters that people use. A word in capitals stands for a value
 * of the seed.
 */
const ADDRESSES: Readonly<Record<GetRoute, string>> = {
  logInForm: '/log-in',
  passwordForm: '/password',
  otpForm: '/one-time-password',
  setUpForm: '/set-up',
  ownSessions: '/sessions',
  overview: '/',
  overviewFigures: '/overview/figures',
  overviewQueues: '/overview/queues',
  overviewOutcomes: '/overview/outcomes',
  search: `/search /search?q=PAYMENT /search?q=PHONE /search?q=REF /search?q=RECEIPT
    /search?q=EXTERNAL /search?q=MERCHANT /search?q=unknown /search?q=duka7 /search?merchant=MERCHANT`,
  waiting: '/waiting /waiting?why=overdue /waiting?kind=payout&merchant=MERCHANT',
  payments: '/payments /payments?phone=PHONE /payments?kind=payout&state=failed&merchant=MERCHANT',
  payment: `${PAYMENT} ${LONG}`,
  paymentLive: `${PAYMENT}/live ${LONG}/live`,
  paymentRevealed: `${PAYMENT}/reveal`,
  paymentAskForm: '/payments/OPEN/ask',
  paymentAskReceiptForm: '/payments/OPEN/ask-receipt',
  paymentDoubtForm: '/payments/OPEN/doubt',
  paymentReplayForm: `${LONG}/replay/JOB`,
  paymentResendForm: `${PAYMENT}/resend/PAYMENT`,
  merchants: '/merchants /merchants?q=duka5',
  merchant: MERCHANT,
  merchantRevealed: `${MERCHANT}/reveal`,
  merchantChangeForm: `${MERCHANT}/change/suspend`,
  appNewForm: `${MERCHANT}/new-app`,
  app: `${MERCHANT}/apps/APP`,
  appChangeForm: `${MERCHANT}/apps/APP/change/update`,
  userNewForm: `${MERCHANT}/new-user`,
  user: `${MERCHANT}/users/USER`,
  userDeactivateForm: `${MERCHANT}/users/USER/deactivate`,
  userChangeForm: `${MERCHANT}/users/USER/change/update`,
  wallets: `${MERCHANT}/wallets`,
  walletTopupForm: `${MERCHANT}/wallets/top-up`,
  walletAdjustForm: `${MERCHANT}/wallets/adjust`,
  adoptChoice: '/adoption?merchant=MERCHANT&receipt+RECEIPT=on',
  adoptForm: `${MERCHANT}/adopt`,
  reconciliation: '/reconciliation',
  statementForm: '/reconciliation/new',
  statement: '/reconciliation/IMPORT',
  statementLive: '/reconciliation/IMPORT/live',
  suspense: '/suspense /suspense?merchant=MERCHANT',
  balances: '/balances',
  ownMoveForm: '/balances/move',
  approvals: '/approvals',
  approval: '/approvals/APPROVAL',
  failedJobs: `/failed-jobs /failed-jobs?state=replayed /failed-jobs?state=failed_again
    /failed-jobs?state=moved_on /failed-jobs?state=all /failed-jobs?state=all&channel=63903
    /failed-jobs?state=moved_on&error=unheard /failed-jobs?queue=polling-simulator /failed-jobs?error=bug /failed-jobs?error=unheard
    /failed-jobs?merchant=MERCHANT /failed-jobs?channel=63902 /failed-jobs?older=7d
    /failed-jobs?newer=24h /failed-jobs?queue=none /failed-jobs?bulk=BULK`,
  bulkReplayBeginForm: `/failed-jobs/replay?all=yes /failed-jobs/replay?all=yes&merchant=MERCHANT
    /failed-jobs/replay?all=yes&error=bug /failed-jobs/replay?jobJOB=on`,
  bulkReplays: '/bulk-replays',
  bulkReplay: '/bulk-replays/BULK',
  bulkReplayLive: '/bulk-replays/BULK/live',
  discrepancies: `/discrepancies /discrepancies?kind=overdue /discrepancies?merchant=MERCHANT
    /discrepancies?state=resolved /discrepancies?older=7d`,
  discrepancy: '/discrepancies/DISCREPANCY',
  decideDiscrepancyForm: '/discrepancies/DISCREPANCY/decide?as=failed',
  assignRowForm: '/discrepancies/DISCREPANCY/assign',
  channels: '/channels',
  channelPauseForm: '/channels/63902/pause',
  channelResumeForm: '/channels/63903/resume',
  endpoints:
    '/webhook-endpoints /webhook-endpoints?merchant=MERCHANT /webhook-endpoints?state=held',
  endpoint: `${ENDPOINT} ${ENDPOINT}?status=exhausted`,
  endpointRecoverForm: `${ENDPOINT}/recover?since=MONTH`,
  endpointProbeForm: `${ENDPOINT}/probe`,
  webhook: '/webhooks/PAYMENT',
  webhookRevealed: '/webhooks/PAYMENT/reveal',
  webhookResendForm: '/webhooks/PAYMENT/resend',
  securityEvents: `/security-events /security-events?kind=log_in_failed
    /security-events?merchant=MERCHANT /security-events?ip=196.201.214.9`,
  audit: `/audit /audit?actor=juma@x.example /audit?noun=webhooks /audit?merchant=MERCHANT
    /audit?subject=SUBJECT /audit?show=reads`,
  auditCsv: '/audit/entries.csv?subject=SUBJECT',
};

/** An address to measure. */
export interface ConsoleCase {
  route: GetRoute;
  /** With the words in capitals. */
  name: string;
  path: string;
}

/**
 * Makes the cases.
 * @param known the values of the words in capitals
 * @throws BenchError when a page has no address here
 */
export function consoleCases(known: Readonly<Record<string, string>>): ConsoleCase[] {
  const names = Object.keys(ROUTES) as RouteName[];
  const pages = names.filter((name) => ROUTES[name].method === 'get') as GetRoute[];
  return pages.flatMap((route) => {
    const addresses: string | undefined = ADDRESSES[route];
    if (!addresses)
      throw new BenchError(`The page ${route} has no address in console-addresses.ts`);
    return addresses.split(/\s+/).map((name) => ({ route, name, path: filledIn(name, known) }));
  });
}

function filledIn(name: string, known: Readonly<Record<string, string>>): string {
  return name.replace(/\b[A-Z][A-Z_]+\b|(?<=job)JOB/g, (word) => known[word] ?? word);
}
