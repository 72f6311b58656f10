import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Registry } from 'prom-client';
import winston from 'winston';
import { openDatabase } from '../../../src/connections/database.ts';
import { addStuckWork, createMetrics } from '../../../src/metrics/process-metrics.ts';
import { createService, loadConfig } from '../../../src/service/service.ts';
import { watch } from '../../support/metrics.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const ALERTS = read('deploy/prometheus/alerts.yml');
const ALERT_TESTS = read('deploy/prometheus/alerts.test.yml');
const OPERATIONS = read('docs/operations.md');
const DASHBOARD = JSON.parse(read('deploy/grafana/malipo.json')) as Dashboard;

interface Dashboard {
  panels: { id: number; title: string; type: string; targets?: { expr: string }[] }[];
}

/** The parts of a rule that stand on lines of their own. */
interface Alert {
  name: string;
  expression: string;
  severity: string | undefined;
  text: string;
}

const alerts: Alert[] = ALERTS.split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: /^\w+/.exec(text)![0],
    expression: /^ {8}expr: ([\s\S]*?)(?=^ {8}\w)/m.exec(text)![1]!,
    severity: /severity: (\w+)/.exec(text)?.[1],
    text,
  }));

const dashboardExpressions = DASHBOARD.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr),
);

/** Returns the text between a heading of the second level and the next one. */
function chapter(name: string): string {
  return new RegExp(`^## ${name}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(OPERATIONS)![1]!;
}

const sections = new Map(
  chapter('Alerts')
    .split(/^### /m)
    .slice(1)
    .map((text) => [/^\w+/.exec(text)![0], text] as const),
);

/** Returns the metrics in an expression, without the suffixes of a histogram's parts. */
function metricsIn(expression: string): string[] {
  const names = expression.match(/\b(malipo|nodejs|process)_\w+/g) ?? [];
  return names.map((name) => name.replace(/_(bucket|count|sum)$/, ''));
}

const PARTS = ['Meaning', 'Look', 'Do', 'Wake'];

describe('The monitoring of the service', () => {
  let registry: Registry;
  let close: () => Promise<unknown>;

  before(() => {
    // The names are known without a database or queue that answers.
    const config = loadConfig({ DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' });
    const database = openDatabase(config.databaseUrl, 2);
    const logger = winston.createLogger({ silent: true });
    const service = createService(config, logger, database);
    const watching = watch(service, { ...config, redisUrl: 'redis://127.0.0.1:1' });
    registry = createMetrics(service, 'all');
    addStuckWork(registry, () => []);
    close = () => Promise.all([watching.close(), database.destroy()]);
  });

  after(() => close());

  const known = () => registry.getMetricsAsArray().map(({ name }) => name);

  it('asks only for metrics that some process shows', () => {
    const expressions = [...alerts.map(({ expression }) => expression), ...dashboardExpressions];
    const asked = new Set(expressions.flatMap(metricsIn));
    expect(asked.size).to.be.greaterThan(30);
    expect([...asked].filter((name) => !known().includes(name))).to.deep.equal([]);
  });

  it('is explained: every metric of ours has its line in docs/operations.md, with its labels', () => {
    const lines = [...chapter('Metrics').matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*)\|/gm)];
    const documented = lines.map(([, name, type, labels]) => {
      const names = [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!);
      return `${type} ${name}(${names.sort()})`;
    });
    const shown = registry
      .getMetricsAsArray()
      .map((metric) => metric as unknown as { name: string; labelNames: string[] })
      .filter(({ name }) => name.startsWith('malipo_'))
      .map((metric) => {
        const names = metric.labelNames.filter((label) => label !== 'le');
        return `${metric.constructor.name.toLowerCase()} ${metric.name}(${names.sort()})`;
      });
    expect(documented).to.have.members(shown);
  });

  it('has for each alert a section that says all four things, and no section without alert', () => {
    expect([...sections.keys()]).to.deep.equal(alerts.map(({ name }) => name));
    for (const [name, text] of sections) {
      const parts = [...text.matchAll(/^\*\*([\w ]+)\.\*\*/gm)].map(([, part]) => part);
      expect(parts, name).to.deep.equal(PARTS);
      expect(text, name).to.match(/```sh\n.+\n```/);
    }
  });

  it('leads from each alert to its section, and says how urgent it is', () => {
    for (const { name, severity, text } of alerts) {
      const handbook = '{{ or $externalLabels.malipo_handbook "docs/operations.md" }}';
      expect(text).to.include(`runbook_url: '${handbook}#${name.toLowerCase()}'\n`);
      expect(severity, name).to.be.oneOf(['page', 'ticket']);
      expect(text)
        .to.match(/^ {10}summary: .+$/m)
        .and.match(/^ {10}description: .+$/m);
    }
  });

  it('has a test for each alert that sees it fire', () => {
    const tested = [...ALERT_TESTS.matchAll(/alertname="(\w+)",alertstate="firing"/g)];
    const names = new Set(tested.map(([, name]) => name!));
    expect([...names]).to.have.members(alerts.map(({ name }) => name));
  });

  it('has a dashboard whose panels all ask something, each with a number of its own', () => {
    const { panels } = DASHBOARD;
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    for (const { type, title, targets } of panels) {
      if (type !== 'row') expect(targets, title).to.not.equal(undefined).and.not.be.empty;
    }
  });

  it('has a dashboard that shows every metric of ours that an alert asks for', () => {
    const asked = new Set(alerts.flatMap(({ expression }) => metricsIn(expression)));
    const ours = [...asked].filter((name) => name.startsWith('malipo_'));
    const shown = dashboardExpressions.flatMap(metricsIn);
    expect(ours.filter((name) => !shown.includes(name))).to.deep.equal([]);
  });
});
