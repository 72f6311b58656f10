import {
  type Approval,
  listDecidedApprovals,
  listOpenApprovals,
} from '../../domain/staff/approval-store.ts';
import { approvalOperations } from '../../operations/approval.ts';
import { flag } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists, recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { type Noun, reads } from '../verb.ts';

const view: View<Approval> = {
  what: 'approval',
  keyOf: ({ id }) => id,
  document: ({ preview, ...row }) => ({
    ...rowDocument(row),
    preview: preview.split('\n'),
  }),
  columns: [
    'id',
    ['ASKED', 'requested_at'],
    ['BY', 'requested_by'],
    'action',
    ['WHAT', 'subject'],
    ['AMOUNT', 'amount_cents'],
    'reason',
    'decision',
    ['DECIDED BY', 'decided_by'],
  ],
};

const list = lists(view, read.uuid, {
  role: 'support',
  summary: 'Lists what waits for a second person, oldest first',
  options: { decided: flag('decided', 'What was decided instead, newest request first') },
  read: ({ database }, { decided, ...page }) =>
    (decided ? listDecidedApprovals : listOpenApprovals)(database, page),
});

const { about } = approvalOperations.approved;
const show = reads({
  role: 'support',
  summary: 'Shows a request: what will happen, who asks for it and why',
  options: about!.fields,
  argument: about!.argument,
  run: async (service, names) => {
    const found = await about!.find(service, names);
    return { data: view.document(found), lines: recordLines(view, found) };
  },
});

export const approval: Noun = {
  summary: 'Requests that wait for a second person',
  verbs: { list, show, ...verbsOf(Object.values(approvalOperations), () => view) },
};
