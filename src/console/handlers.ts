import { logInHandlers } from './access/log-in.tsx';
import { otpHandlers } from './access/one-time-password.tsx';
import { ownSessionHandlers } from './access/own-sessions.tsx';
import { passwordHandlers } from './access/password.tsx';
import { setUpHandlers } from './access/set-up.tsx';
import { appHandlers } from './pages/app.tsx';
import { approvalHandlers } from './pages/approval.tsx';
import { auditHandlers } from './pages/audit.tsx';
import { balanceHandlers } from './pages/balances.tsx';
import { bulkReplayHandlers } from './pages/bulk-replays.tsx';
import { channelHandlers } from './pages/channels.tsx';
import { discrepancyHandlers } from './pages/discrepancy.tsx';
import { failedJobHandlers } from './pages/failed-jobs.tsx';
import { merchantHandlers } from './pages/merchant.tsx';
import { overviewHandlers } from './pages/overview.tsx';
import { paymentHandlers } from './pages/payment.tsx';
import { paymentsHandlers } from './pages/payments.tsx';
import { searchHandlers } from './pages/search.tsx';
import { securityEventHandlers } from './pages/security-events.tsx';
import { reconciliationHandlers } from './pages/statement.tsx';
import { suspenseHandlers } from './pages/suspense.tsx';
import { userHandlers } from './pages/user.tsx';
import { waitingHandlers } from './pages/waiting.tsx';
import { walletHandlers } from './pages/wallets.tsx';
import { webhookEndpointHandlers } from './pages/webhook-endpoints.tsx';
import type { ROUTES, RouteName } from './routes.ts';
import type { Handler, OpenVisit, ProvenVisit, Visit } from './visit.ts';

type HandlerOf<Role> = Role extends 'anyone'
  ? Handler<OpenVisit>
  : Role extends 'password'
    ? Handler<ProvenVisit>
    : Handler<Visit>;

/** The handler of every route. It does not compile while a route has none. */
export const HANDLERS: { [Name in RouteName]: HandlerOf<(typeof ROUTES)[Name]['role']> } = {
  ...logInHandlers,
  ...passwordHandlers,
  ...otpHandlers,
  ...setUpHandlers,
  ...ownSessionHandlers,
  ...overviewHandlers,
  ...paymentHandlers,
  ...searchHandlers,
  ...waitingHandlers,
  ...paymentsHandlers,
  ...merchantHandlers,
  ...appHandlers,
  ...userHandlers,
  ...suspenseHandlers,
  ...balanceHandlers,
  ...reconciliationHandlers,
  ...walletHandlers,
  ...approvalHandlers,
  ...discrepancyHandlers,
  ...failedJobHandlers,
  ...bulkReplayHandlers,
  ...channelHandlers,
  ...webhookEndpointHandlers,
  ...securityEventHandlers,
  ...auditHandlers,
};
