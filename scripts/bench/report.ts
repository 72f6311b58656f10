import type { Figure } from './figures.ts';
import type { Machine } from './machine.ts';
import type { Plan } from './scenario.ts';

/** All that a run has found. */
export interface Report {
  machine: Machine;
  figures: Figure[];
  notes: string[];
  plans: Plan[];
}

/** The report as one JSON document; numbers as they are. */
export function jsonOf(report: Report): string {
  return JSON.stringify(report, null, 2);
}

/** The report for people: the machine, one table, and what must be said with it. */
export function textOf({ machine, figures, notes, plans }: Report): string {
  return [
    machineLine(machine),
    '',
    ...tableOf(figures),
    '',
    ...notes,
    ...plans.flatMap(({ name, text }) => ['', `-- ${name}`, text]),
  ].join('\n');
}

function machineLine(machine: Machine): string {
  return [
    `${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB`,
    `Node ${machine.node}`,
    `PostgreSQL ${machine.postgres}`,
    `queues in ${machine.queueBackend}`,
    `run from ${machine.programs === 'built' ? 'dist' : 'source'}`,
    `DATABASE_POOL_MAX ${machine.databasePoolMax ?? 'by type'}`,
    `LOG_LEVEL ${machine.logLevel}`,
    `load average before ${machine.loadBefore.toFixed(1)}`,
  ].join(', ');
}

const COLUMNS: readonly (readonly [title: string, cell: (figure: Figure) => string])[] = [
  ['scenario', ({ scenario }) => scenario],
  ['case', ({ name }) => name],
  ['samples', ({ samples }) => String(samples)],
  ['per second', ({ perSecond }) => rounded(perSecond)],
  ['median ms', ({ medianMs }) => rounded(medianMs)],
  ['p95 ms', ({ p95Ms }) => rounded(p95Ms)],
  ['p99 ms', ({ p99Ms }) => rounded(p99Ms)],
  ['worst ms', ({ worstMs }) => rounded(worstMs)],
  ['web CPU ms', ({ webCpuMs }) => webCpuMs?.toFixed(2) ?? ''],
  ['all CPU ms', ({ totalCpuMs }) => totalCpuMs?.toFixed(1) ?? ''],
  ['errors', ({ errors }) => String(errors)],
  ['ratio', ({ ratio }) => (ratio === null ? '' : ratio.toFixed(2))],
  ['spread', ({ spread }) => `${Math.round(spread * 100)} %`],
  ['too slow', ({ over }) => over ?? ''],
];
/** The scenario and the case. */
const LEFT_COLUMNS_COUNT = 2;
/** From here on the digits after the point say nothing. */
const WHOLE_FROM = 100;

function tableOf(figures: Figure[]): string[] {
  const lines = [
    COLUMNS.map(([title]) => title),
    ...figures.map((figure) => COLUMNS.map(([, cell]) => cell(figure))),
  ];
  const widths = COLUMNS.map((_column, index) =>
    Math.max(...lines.map((cells) => cells[index]!.length)),
  );
  return lines.map((cells) =>
    cells
      .map((cell, index) =>
        index < LEFT_COLUMNS_COUNT ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!),
      )
      .join('  ')
      .trimEnd(),
  );
}

function rounded(value: number | null): string {
  if (value === null) return '';
  return value.toFixed(value < WHOLE_FROM ? 1 : 0);
}
