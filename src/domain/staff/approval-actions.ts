import type { Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { keepBankStatement } from '../gateway-accounts/own-lines.ts';
import { bookMoveAsAsked } from '../gateway-accounts/own-moves.ts';
import { type AdoptionRates, adoptAsAsked } from '../support/adopt-movements.ts';
import { resolveAsAsked } from '../support/asked-decision.ts';
import { beginBulkReplay } from '../support/bulk-replay.ts';
import type { ResolveOptions } from '../support/resolution.ts';
import { bookAsAsked } from '../wallets/operator-entries.ts';
import {
  addMemberAsAsked,
  changeRoleAsAsked,
  deactivateAsAsked,
  replaceTokenAsAsked,
  switchTotpOff,
} from './replace-access.ts';
import type { StaffRole } from './staff.ts';

/** What actions need besides their payload. */
export interface ApprovalOptions extends ResolveOptions, AdoptionRates {
  doDeed: DoDeed;
  /** One-time passwords of a member that are newer approve nothing. 0: all approve. */
  newAccessHoldMs: number;
}

/** An operation of staff as somebody has asked for it. */
export interface AskedDeed {
  /** Names the thing that it is about. */
  names: Record<string, unknown>;
  /** As its fields have read them. Later `undefined` is missing. */
  values: Record<string, unknown>;
  /** The version of what was there when it was asked for. Missing for something new. */
  version?: string;
}

/** Does an operation by its name, as somebody has asked. The doors to the domain know how. */
type DoDeed = (
  trx: Transaction,
  name: string,
  asked: AskedDeed,
  by: Approvers,
) => Promise<AuditedChange<unknown>>;

/** The two people who stand for an action. */
export interface Approvers {
  requested_by: string;
  /** Why the first person wants it. */
  reason: string;
  approved_by: string;
}

export interface ApprovalAction<Payload> {
  /** The role that the second person needs. */
  role: StaffRole;
  /** Nobody has to agree if no admin can, so an admin who is not as good may: see `requireTwoPeople`. */
  isAboutAccess?: boolean;
  /**
   * Does it, in the transaction of the approval. It checks everything again: the world may have
   * changed since the request.
   * @throws OperatorRefusal when it is not possible any more, or would do something else
   */
  run(
    trx: Transaction,
    payload: Payload,
    by: Approvers,
    options: ApprovalOptions,
  ): Promise<AuditedChange<unknown>>;
}

/** An operation that runs as it is once another admin has agreed. */
function deed(name: string): ApprovalAction<AskedDeed> {
  return {
    role: 'admin',
    isAboutAccess: true,
    run: (trx, asked, by, { doDeed }) => doDeed(trx, name, asked, by),
  };
}

/** The actions that may need a second person, by their name in the audit log. */
export const APPROVAL_ACTIONS = {
  'app.activate': deed('app.activate'),
  'app.create': deed('app.create'),
  'app.rotate-secret': deed('app.rotate-secret'),
  'app.rotate-webhook-secret': deed('app.rotate-webhook-secret'),
  'app.update': deed('app.update'),
  'merchant.activate': deed('merchant.activate'),
  'merchant.release-payouts': deed('merchant.release-payouts'),
  'merchant.update': deed('merchant.update'),
  'user.create': deed('user.create'),
  'user.reset-totp': deed('user.reset-totp'),
  'user.update': deed('user.update'),
  'discrepancy.resolve': { role: 'support', run: resolveAsAsked },
  'discrepancy.adopt': { role: 'admin', run: adoptAsAsked },
  'ledger.bank-statement': { role: 'support', run: keepBankStatement },
  'ledger.move': { role: 'admin', run: bookMoveAsAsked },
  'jobs.replay': { role: 'support', run: beginBulkReplay },
  'staff.deactivate': { role: 'admin', run: deactivateAsAsked, isAboutAccess: true },
  'staff.create': { role: 'admin', run: addMemberAsAsked, isAboutAccess: true },
  'staff.update': { role: 'admin', run: changeRoleAsAsked, isAboutAccess: true },
  'staff.new-token': { role: 'admin', run: replaceTokenAsAsked },
  'staff.reset-totp': { role: 'admin', run: switchTotpOff },
  'wallet.topup': { role: 'admin', run: bookAsAsked },
  'wallet.adjust': { role: 'admin', run: bookAsAsked },
  // biome-ignore lint/suspicious/noExplicitAny: each action has a payload of its own.
} as const satisfies Record<string, ApprovalAction<any>>;

export type ApprovalActionName = keyof typeof APPROVAL_ACTIONS;

/** What an action needs, and what the database keeps of it until somebody decides. */
export type PayloadOf<Name extends ApprovalActionName> = Parameters<
  (typeof APPROVAL_ACTIONS)[Name]['run']
>[1];
