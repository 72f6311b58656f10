import { OperatorRefusal } from '../domain/errors.ts';
import type { ApprovalOptions } from '../domain/staff/approval-actions.ts';
import { type Approval, type Decision, findApproval } from '../domain/staff/approval-store.ts';
import { decideApproval } from '../domain/staff/approvals.ts';
import { appOperations, createApp } from './app.ts';
import { required } from './field.ts';
import { merchantOperations } from './merchant.ts';
import { define, type Noun, type Operation, type Result } from './operation.ts';
import * as read from './readers.ts';
import { doAsAsked } from './second-admin.ts';
import { createUser, userOperations } from './user.ts';

const APPROVAL: Noun<Approval> = {
  fields: { id: required('approval', read.uuid, 'The id of the request') },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findApproval(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no request ${id}`);
  },
};

/** The operations that run as they are once another admin has agreed. */
const WITH_SECOND_ADMIN = [
  createApp,
  createUser,
  ...appOperations,
  ...merchantOperations,
  ...Object.values(userOperations),
] as unknown as readonly Operation[];

interface Verdict {
  name: 'approval.approve' | 'approval.reject' | 'approval.withdraw';
  as: Decision;
  title: string;
  summary: string;
  line: string;
}

/** Decides about a request. The domain sees to it that nobody approves an own one. */
function verdict({ name, as, title, summary, line }: Verdict) {
  return define<Approval, Record<never, never>>({
    name,
    role: 'support',
    title,
    summary,
    about: APPROVAL,
    fields: {},
    ...(as === 'approved' && {
      otp: 'fresh',
      twoPeople:
        'always: another member than the one who has asked, with the role that the request needs',
    }),
    whyNot: ({ decision, decided_by }) =>
      decision === null ? null : `${decided_by} has decided already: ${decision}`,
    preview: ({ subject }) => (as === 'approved' ? subject.preview.split('\n') : [line]),
    perform: async ({ audited, service, subject: { id }, actor: by, reason, time }) => {
      let done: Result | undefined;
      const doDeed: ApprovalOptions['doDeed'] = async (
        trx,
        name,
        asked,
        { requested_by, ...why },
      ) => {
        const operation = WITH_SECOND_ADMIN.find((one) => one.name === name)!;
        const look = { service, actor: requested_by, member: null, reason: why.reason, time };
        const { change, result } = await doAsAsked(trx, operation, asked, look);
        done = result;
        return change;
      };
      const options = { ...service.config, parserOf: service.parserOf, doDeed };
      const row = await audited((trx) => decideApproval(trx, id, { as, by, reason }, options));
      const title = line.replace(/\.$/, '');
      return done?.secret ? { ...done, title: `${title}. ${done.title}`, row } : { title, row };
    },
  });
}

/** The decisions about what a member has asked a second person for. */
export const approvalOperations = {
  approved: verdict({
    name: 'approval.approve',
    as: 'approved',
    title: 'Approve: it is done at once',
    summary: 'Does what another member of staff has asked for',
    line: 'The request is approved and done.',
  }),
  rejected: verdict({
    name: 'approval.reject',
    as: 'rejected',
    title: 'Reject: it is not done',
    summary: 'Turns down what another member of staff has asked for',
    line: 'The request is rejected: nothing was done.',
  }),
  withdrawn: verdict({
    name: 'approval.withdraw',
    as: 'withdrawn',
    title: 'Withdraw the request',
    summary: 'Takes your own request back',
    line: 'The request is withdrawn: nothing was done.',
  }),
};
