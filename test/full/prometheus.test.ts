import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith } from '../support/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DASHBOARD = JSON.parse(readFileSync(join(ROOT, 'deploy/grafana/malipo.json'), 'utf8')) as {
  panels: { targets?: { expr: string }[] }[];
};
const dashboardExpressions = DASHBOARD.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr),
);

describeWith(['promtool'], 'In the eyes of promtool', () => {
  function promtool(...args: string[]): void {
    const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
    expect(status, `${stdout}${stderr}${error ?? ''}`).to.equal(0);
  }

  it('the alerts are right', () => {
    promtool('check', 'rules', join(ROOT, 'deploy/prometheus/alerts.yml'));
  });

  it('the example of a configuration is right', () => {
    promtool('check', 'config', join(ROOT, 'deploy/prometheus/prometheus.yml'));
  });

  it('each alert fires when it should, and none when all is well', () => {
    promtool('test', 'rules', join(ROOT, 'deploy/prometheus/alerts.test.yml'));
  });

  it('every expression of the dashboard is right', () => {
    const folder = makeFolder('dashboard');
    const rules = dashboardExpressions.map((expression, index) => ({
      record: `panel:${index}`,
      // What Grafana fills in.
      expr: expression.replaceAll('$__rate_interval', '1m'),
    }));
    const file = join(folder, 'dashboard.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    promtool('check', 'rules', file);
  });
});
