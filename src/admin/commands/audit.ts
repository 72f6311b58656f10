import {
  type AuditFilter,
  type AuditRecord,
  auditCsv,
  listAudit,
} from '../../domain/audit/audit-log.ts';
import { flag, optional, type ValuesOf } from '../../operations/field.ts';
import { checkPeriod, period } from '../../operations/period.ts';
import * as read from '../../operations/readers.ts';
import { lists, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { ACTOR, type Noun, type Verb } from '../verb.ts';

const MAX_SUBJECT_LENGTH = 200;

const entries: View<AuditRecord> = {
  what: 'audit entry',
  plural: 'audit entries',
  keyOf: ({ id }) => id,
  document: (row) => rowDocument(row),
  columns: [
    ['WHEN', 'happened_at'],
    ...(['actor', 'action', 'subject', 'merchant_id', 'reason', 'details'] as const),
  ],
};

const noun = read.textThat('NOUN', 'a noun of the command line such as app or webhooks', (raw) =>
  /^[a-z][a-z_-]{0,49}$/.test(raw),
);

const filters = {
  // Not `actor`: that is who runs a command.
  by: optional('actor', ACTOR, 'Only what this person or program has done'),
  noun: optional('noun', noun, 'Only changes with this noun, such as app, wallet or webhooks'),
  merchant_id: read.ofMerchant,
  subject: optional(
    'subject',
    read.text('SUBJECT', MAX_SUBJECT_LENGTH),
    'Only changes of this thing, such as "app 5001"',
  ),
  ...period,
  reads: flag('reads', 'What was read, instead of what was changed'),
};
type Filters = ValuesOf<typeof filters>;

const page = lists(entries, read.uuid, {
  role: 'support',
  summary: 'Lists what operators and support have changed or read, newest first',
  notes: `It lists what was changed; with --reads it lists who has read data of merchants or customers, what they looked for, and how many rows they saw. Days are days of Nairobi. --csv writes all that fit as one CSV file by RFC 4180, whatever --limit is. An apostrophe stands before a text that a spreadsheet would take for a formula.`,
  options: filters,
  check: checkPeriod,
  read: ({ database }, { by, subject, ...filter }) =>
    listAudit(database, { ...filter, ...filterIn({ by, subject }) }),
});

type Named = Pick<Filters, 'by' | 'subject'>;

function filterIn({ by, subject }: Named): AuditFilter {
  return { actor: by, subjects: subject === undefined ? undefined : [subject] };
}

const list: Verb = {
  ...page,
  options: { ...page.options, csv: flag('csv', 'Write all of them as CSV') },
  run: async (service, values) => {
    if (!values.csv) return page.run(service, values);
    const { by, subject, noun, merchant_id, since, until, reads } = values as never as Filters;
    const filter = { noun, merchant_id, since, until, reads, ...filterIn({ by, subject }) };
    return { data: {}, lines: [], stream: auditCsv(service.database, filter, (line) => line) };
  },
};

export const audit: Noun = {
  summary: 'Who has changed what and why, and who has read what',
  verbs: { list },
};
