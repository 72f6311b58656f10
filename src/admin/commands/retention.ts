import { countRetention, runRetention } from '../../domain/upkeep/run-retention.ts';
import { flag } from '../../operations/field.ts';
import { table } from '../output/table.ts';
import { changes, type Noun } from '../verb.ts';

const run = changes({
  role: 'admin',
  summary: 'Deletes what was kept for long enough, and detaches old months of history',
  notes:
    'The dispatcher does the same once a day. Payments, books, events and the audit log are never deleted; docs/operations.md has the period of each table. It may be stopped at any time. BUSY: months that are in use; run it again. Exit status 1 when a table could not be done; the others are done.',
  options: {
    isDryRun: flag('dry-run', 'Only count what would go; at most 100000 rows of a table'),
  },
  run: async ({ database }, { isDryRun }, { actor, reason }) => {
    const tables = isDryRun
      ? await countRetention(database)
      : await runRetention(database, { actor, reason });
    const title = isDryRun ? 'This would go now:' : 'This is gone now:';
    return {
      isFailure: tables.some(({ error }) => error !== null),
      data: { dry_run: isDryRun, tables },
      lines: [title, table(tables, ['table', 'rows', 'months', 'busy', 'error'])],
    };
  },
});

export const retention: Noun = { summary: 'How long rows are kept', verbs: { run } };
