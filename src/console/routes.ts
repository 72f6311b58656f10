import { mayActAs, type StaffRole } from '../domain/staff/staff.ts';

/**
 * Who may use a route. `anyone` needs no session. `password` needs a session that may still lack
 * its one-time password. A role needs a whole session of a member with this role or a higher one.
 */
export type Access = 'anyone' | 'password' | StaffRole;

export interface Route {
  method: 'get' | 'post';
  path: string;
  role: Access;
  /** A part of a page that refreshes itself. Reading it is no use of the session. */
  isPart?: boolean;
}

const PAYMENT = '/payments/:kind/:merchant_id/:id';
const CHANNEL = '/channels/:code';
const ENDPOINT = '/webhook-endpoints/:merchant_id/:endpoint';
const WEBHOOK = '/webhooks/:id';

const STATEMENT = '/reconciliation/:import';
const MERCHANT = '/merchants/:merchant_id';
const APP = `${MERCHANT}/apps/:code` as const;
const USER = `${MERCHANT}/users/:user_id` as const;

/** Every route of the console but its assets and health. `handlers.ts` has a handler for each. */
export const ROUTES = {
  logInForm: { method: 'get', path: '/log-in', role: 'anyone' },
  logIn: { method: 'post', path: '/log-in', role: 'anyone' },
  passwordForm: { method: 'get', path: '/password', role: 'anyone' },
  setPassword: { method: 'post', path: '/password', role: 'anyone' },
  otpForm: { method: 'get', path: '/one-time-password', role: 'password' },
  useOtp: { method: 'post', path: '/one-time-password', role: 'password' },
  setUpForm: { method: 'get', path: '/set-up', role: 'password' },
  beginSetUp: { method: 'post', path: '/set-up', role: 'password' },
  confirmSetUp: { method: 'post', path: '/set-up/confirm', role: 'password' },
  logOut: { method: 'post', path: '/log-out', role: 'password' },
  ownSessions: { method: 'get', path: '/sessions', role: 'viewer' },
  endOwnSession: { method: 'post', path: '/sessions', role: 'viewer' },
  overview: { method: 'get', path: '/', role: 'viewer' },
  search: { method: 'get', path: '/search', role: 'viewer' },
  waiting: { method: 'get', path: '/waiting', role: 'viewer' },
  // A part of a phone would tell a viewer the hidden digits.
  payments: { method: 'get', path: '/payments', role: 'support' },
  payment: { method: 'get', path: PAYMENT, role: 'viewer' },
  paymentLive: { method: 'get', path: `${PAYMENT}/live`, role: 'viewer', isPart: true },
  paymentReveal: { method: 'post', path: `${PAYMENT}/reveal`, role: 'support' },
  paymentRevealed: { method: 'get', path: `${PAYMENT}/reveal`, role: 'viewer' },
  paymentAskForm: { method: 'get', path: `${PAYMENT}/ask`, role: 'support' },
  paymentAsk: { method: 'post', path: `${PAYMENT}/ask`, role: 'support' },
  paymentAskReceiptForm: { method: 'get', path: `${PAYMENT}/ask-receipt`, role: 'support' },
  paymentAskReceipt: { method: 'post', path: `${PAYMENT}/ask-receipt`, role: 'support' },
  paymentDoubtForm: { method: 'get', path: `${PAYMENT}/doubt`, role: 'support' },
  paymentDoubt: { method: 'post', path: `${PAYMENT}/doubt`, role: 'support' },
  paymentReplayForm: { method: 'get', path: `${PAYMENT}/replay/:job`, role: 'support' },
  paymentReplay: { method: 'post', path: `${PAYMENT}/replay/:job`, role: 'support' },
  paymentResendForm: { method: 'get', path: `${PAYMENT}/resend/:webhook`, role: 'support' },
  paymentResend: { method: 'post', path: `${PAYMENT}/resend/:webhook`, role: 'support' },
  merchants: { method: 'get', path: '/merchants', role: 'viewer' },
  merchant: { method: 'get', path: MERCHANT, role: 'viewer' },
  merchantReveal: { method: 'post', path: `${MERCHANT}/reveal`, role: 'support' },
  merchantRevealed: { method: 'get', path: `${MERCHANT}/reveal`, role: 'viewer' },
  merchantChangeForm: { method: 'get', path: `${MERCHANT}/change/:action`, role: 'admin' },
  merchantChange: { method: 'post', path: `${MERCHANT}/change/:action`, role: 'admin' },
  appNewForm: { method: 'get', path: `${MERCHANT}/new-app`, role: 'admin' },
  appNew: { method: 'post', path: `${MERCHANT}/new-app`, role: 'admin' },
  app: { method: 'get', path: APP, role: 'viewer' },
  appChangeForm: { method: 'get', path: `${APP}/change/:action`, role: 'admin' },
  appChange: { method: 'post', path: `${APP}/change/:action`, role: 'admin' },
  userNewForm: { method: 'get', path: `${MERCHANT}/new-user`, role: 'admin' },
  userNew: { method: 'post', path: `${MERCHANT}/new-user`, role: 'admin' },
  user: { method: 'get', path: USER, role: 'viewer' },
  userDeactivateForm: { method: 'get', path: `${USER}/deactivate`, role: 'support' },
  userDeactivate: { method: 'post', path: `${USER}/deactivate`, role: 'support' },
  userChangeForm: { method: 'get', path: `${USER}/change/:action`, role: 'admin' },
  userChange: { method: 'post', path: `${USER}/change/:action`, role: 'admin' },
  wallets: { method: 'get', path: `${MERCHANT}/wallets`, role: 'viewer' },
  walletTopupForm: { method: 'get', path: `${MERCHANT}/wallets/top-up`, role: 'admin' },
  walletTopup: { method: 'post', path: `${MERCHANT}/wallets/top-up`, role: 'admin' },
  walletAdjustForm: { method: 'get', path: `${MERCHANT}/wallets/adjust`, role: 'admin' },
  walletAdjust: { method: 'post', path: `${MERCHANT}/wallets/adjust`, role: 'admin' },
  reconciliation: { method: 'get', path: '/reconciliation', role: 'viewer' },
  statementForm: { method: 'get', path: '/reconciliation/new', role: 'support' },
  statementNew: { method: 'post', path: '/reconciliation/new', role: 'support' },
  statement: { method: 'get', path: STATEMENT, role: 'viewer' },
  statementLive: { method: 'get', path: `${STATEMENT}/live`, role: 'viewer', isPart: true },
  statementRun: { method: 'post', path: `${STATEMENT}/run`, role: 'support' },
  suspense: { method: 'get', path: '/suspense', role: 'viewer' },
  balances: { method: 'get', path: '/balances', role: 'viewer' },
  ownMoveForm: { method: 'get', path: '/balances/move', role: 'admin' },
  ownMove: { method: 'post', path: '/balances/move', role: 'admin' },
  approvals: { method: 'get', path: '/approvals', role: 'viewer' },
  approval: { method: 'get', path: '/approvals/:id', role: 'viewer' },
  decideApproval: { method: 'post', path: '/approvals/:id', role: 'support' },
  failedJobs: { method: 'get', path: '/failed-jobs', role: 'viewer' },
  bulkReplayBeginForm: { method: 'get', path: '/failed-jobs/replay', role: 'support' },
  bulkReplayBegin: { method: 'post', path: '/failed-jobs/replay', role: 'support' },
  bulkReplays: { method: 'get', path: '/bulk-replays', role: 'viewer' },
  bulkReplay: { method: 'get', path: '/bulk-replays/:id', role: 'viewer' },
  bulkReplayLive: { method: 'get', path: '/bulk-replays/:id/live', role: 'viewer', isPart: true },
  stopBulkReplay: { method: 'post', path: '/bulk-replays/:id/stop', role: 'support' },
  discrepancies: { method: 'get', path: '/discrepancies', role: 'viewer' },
  discrepancy: { method: 'get', path: '/discrepancies/:id', role: 'viewer' },
  decideDiscrepancyForm: { method: 'get', path: '/discrepancies/:id/decide', role: 'support' },
  decideDiscrepancy: { method: 'post', path: '/discrepancies/:id/decide', role: 'support' },
  assignRowForm: { method: 'get', path: '/discrepancies/:id/assign', role: 'support' },
  assignRow: { method: 'post', path: '/discrepancies/:id/assign', role: 'support' },
  adoptChoice: { method: 'get', path: '/adoption', role: 'admin' },
  adoptForm: { method: 'get', path: `${MERCHANT}/adopt`, role: 'admin' },
  adopt: { method: 'post', path: `${MERCHANT}/adopt`, role: 'admin' },
  overviewFigures: { method: 'get', path: '/overview/figures', role: 'viewer', isPart: true },
  overviewQueues: { method: 'get', path: '/overview/queues', role: 'viewer', isPart: true },
  overviewOutcomes: { method: 'get', path: '/overview/outcomes', role: 'viewer', isPart: true },
  channels: { method: 'get', path: '/channels', role: 'viewer' },
  channelPauseForm: { method: 'get', path: `${CHANNEL}/pause`, role: 'admin' },
  channelPause: { method: 'post', path: `${CHANNEL}/pause`, role: 'admin' },
  channelResumeForm: { method: 'get', path: `${CHANNEL}/resume`, role: 'admin' },
  channelResume: { method: 'post', path: `${CHANNEL}/resume`, role: 'admin' },
  endpoints: { method: 'get', path: '/webhook-endpoints', role: 'viewer' },
  endpoint: { method: 'get', path: ENDPOINT, role: 'viewer' },
  endpointRecoverForm: { method: 'get', path: `${ENDPOINT}/recover`, role: 'support' },
  endpointRecover: { method: 'post', path: `${ENDPOINT}/recover`, role: 'support' },
  endpointProbeForm: { method: 'get', path: `${ENDPOINT}/probe`, role: 'support' },
  endpointProbe: { method: 'post', path: `${ENDPOINT}/probe`, role: 'support' },
  webhook: { method: 'get', path: WEBHOOK, role: 'viewer' },
  webhookReveal: { method: 'post', path: `${WEBHOOK}/reveal`, role: 'support' },
  webhookRevealed: { method: 'get', path: `${WEBHOOK}/reveal`, role: 'viewer' },
  webhookResendForm: { method: 'get', path: `${WEBHOOK}/resend`, role: 'support' },
  webhookResend: { method: 'post', path: `${WEBHOOK}/resend`, role: 'support' },
  securityEvents: { method: 'get', path: '/security-events', role: 'viewer' },
  audit: { method: 'get', path: '/audit', role: 'viewer' },
  auditCsv: { method: 'get', path: '/audit/entries.csv', role: 'viewer' },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/** The navigation, in its order. It shows what the role may. */
const NAVIGATION: readonly [RouteName, string][] = [
  ['overview', 'Overview'],
  ['search', 'Search'],
  ['failedJobs', 'Failed jobs'],
  ['discrepancies', 'Discrepancies'],
  ['suspense', 'Suspense'],
  ['balances', 'Balances'],
  ['approvals', 'Approvals'],
  ['reconciliation', 'Reconciliation'],
  ['channels', 'Channels'],
  ['merchants', 'Merchants'],
  ['endpoints', 'Webhooks'],
  ['securityEvents', 'Security'],
  ['audit', 'Audit'],
];

/** Tells whether a role may use a route. Views show no link and no button without it. */
export function mayUse(role: StaffRole, name: RouteName): boolean {
  const needed: Access = ROUTES[name].role;
  return needed === 'anyone' || needed === 'password' || mayActAs(role, needed);
}

/** Returns the entries of the navigation for a role. */
export function navigationFor(role: StaffRole): { path: string; label: string }[] {
  return NAVIGATION.filter(([name]) => mayUse(role, name)).map(([name, label]) => ({
    label,
    path: ROUTES[name].path,
  }));
}

/** Returns the address of a route. @throws Error when a parameter of its path is missing */
export function pathTo(name: RouteName, params: Readonly<Record<string, unknown>> = {}): string {
  return ROUTES[name].path.replace(/:(\w+)/g, (_, key: string) => {
    const value = params[key];
    if (value === undefined) throw new Error(`The path of ${name} needs ${key}`);
    return encodeURIComponent(String(value));
  });
}
