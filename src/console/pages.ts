import { logInHandlers } from './access/log-in.tsx';
import { otpHandlers } from './access/one-time-password.tsx';
import { passwordHandlers } from './access/password.tsx';
import { setUpHandlers } from './access/set-up.tsx';
import { approvalHandlers } from './approvals/routes.tsx';
import { appHandlers } from './apps/routes.tsx';
import { auditHandlers } from './audit/routes.tsx';
import { channelHandlers } from './channels/routes.tsx';
import { discrepancyHandlers } from './discrepancies/routes.tsx';
import { failedJobHandlers } from './failed-jobs/routes.tsx';
import { bulkReplayHandlers } from './failed-jobs/run-routes.tsx';
import { merchantHandlers } from './merchants/routes.tsx';
import { overviewHandlers } from './overview/routes.tsx';
import { paymentHandlers } from './payment/routes.tsx';
import { reconciliationHandlers } from './reconciliation/routes.tsx';
import type { ROUTES, RouteName } from './routes.ts';
import { searchHandlers } from './search/routes.tsx';
import { securityEventHandlers } from './security-events/routes.tsx';
import { suspenseHandlers } from './suspense/routes.tsx';
import { userHandlers } from './users/routes.tsx';
import type { Handler, OpenVisit, ProvenVisit, Visit } from './visit.ts';
import { waitingHandlers } from './waiting/routes.tsx';
import { entryHandlers } from './wallets/entries.tsx';
import { walletHandlers } from './wallets/routes.tsx';
import { webhookEndpointHandlers } from './webhook-endpoints/routes.tsx';

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
  ...overviewHandlers,
  ...paymentHandlers,
  ...searchHandlers,
  ...waitingHandlers,
  ...merchantHandlers,
  ...appHandlers,
  ...userHandlers,
  ...suspenseHandlers,
  ...reconciliationHandlers,
  ...walletHandlers,
  ...entryHandlers,
  ...approvalHandlers,
  ...discrepancyHandlers,
  ...failedJobHandlers,
  ...bulkReplayHandlers,
  ...channelHandlers,
  ...webhookEndpointHandlers,
  ...securityEventHandlers,
  ...auditHandlers,
};
