import { OperatorRefusal } from '../domain/errors.ts';
import {
  type Approval,
  type Decision,
  decideApproval,
  findApproval,
} from '../domain/staff/approvals.ts';
import { required } from './field.ts';
import { define, type Noun } from './operation.ts';
import * as read from './readers.ts';

const APPROVAL: Noun<Approval> = {
  fields: { id: required('approval', read.uuid, 'The id of the request') },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findApproval(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no request ${id}`);
  },
};

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
    ...(as === 'approved' && { otp: 'fresh' }),
    whyNot: ({ decision, decided_by }) =>
      decision === null ? null : `${decided_by} has decided already: ${decision}`,
    preview: ({ subject }) => (as === 'approved' ? subject.preview.split('\n') : [line]),
    perform: async ({ audited, service, subject: { id }, actor: by, reason }) => {
      const options = { ...service.config, parserOf: service.parserOf };
      const row = await audited((trx) => decideApproval(trx, id, { as, by, reason }, options));
      return { title: line.replace(/\.$/, ''), row };
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
