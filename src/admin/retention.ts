import { countRetention, type Removed, runRetention } from '../domain/upkeep/run-retention.ts';
import { changes, flag } from './command.ts';
import { columns } from './output.ts';

const run = changes({
  summary: 'Deletes what was kept for long enough, and detaches old months of history',
  notes: [
    'The dispatcher does the same once a day. Payments, books, events and the audit log are never',
    'deleted; docs/operations.md has the period of each table. Stop it whenever you like.',
    'Exit status 1 when a table could not be done; the others are.',
  ],
  options: { 'dry-run': flag('Only count what would go; each table up to 100000 rows') },
  run: async ({ service: { database }, actor, reason }, values) => {
    const isDry = values['dry-run'];
    const removed = isDry
      ? await countRetention(database)
      : await runRetention(database, { actor, reason });
    return {
      isFailure: removed.some(({ error }) => error !== null),
      data: { dry_run: isDry, tables: removed },
      lines: [
        isDry ? 'This would go now:' : 'This is gone now:',
        ...columns([['TABLE', 'ROWS', 'MONTHS'], ...removed.map(cells)]),
        ...removed.flatMap(problems),
      ],
    };
  },
});

function cells({ table, rows, months }: Removed): string[] {
  return [table, String(rows), months.join(', ') || '-'];
}

function problems({ table, busy, error }: Removed): string[] {
  return [
    ...(busy.length > 0 ? [`In use, so still there: ${busy.join(', ')}. Run it again`] : []),
    ...(error === null ? [] : [`${table} could not be done, or not all of it: ${error}`]),
  ];
}

export const retentionVerbs = { run };
