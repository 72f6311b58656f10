import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BIOME = join(ROOT, 'node_modules/.bin/biome');

/** By folder, what its files must never import. */
const FORBIDDEN: Readonly<Record<string, string[]>> = {
  src: [
    ...['./api/app.ts', './workers/run-worker.ts', './console/main.ts', './admin/main.ts'],
    './sandbox/seed.ts',
  ],
  'src/stores': [
    '../api/app.ts',
    '../workers/run-worker.ts',
    '../sandbox/seed.ts',
    '../admin/main.ts',
  ],
  'src/domain': [
    ...['../api/app.ts', '../api/routes/auth.ts', '../workers/run-worker.ts', '../console/main.ts'],
    ...[
      '../admin/main.ts',
      '../sandbox/seed.ts',
      '../gateways/gateway.ts',
      '../gateways/simulator/simulator-gateway.ts',
    ],
    ...[
      '../jobs/queues.ts',
      '../jobs/backend.ts',
      '../jobs/dispatch-outbox.ts',
      '../jobs/sweeper.ts',
    ],
    ...['../boot.ts', '../config.ts', '../settings.ts', '../logger.ts', '../lifecycle.ts'],
    ...['../migrations.ts', 'express', 'bullmq', 'ioredis', 'got'],
    ...['../metrics.ts', '../metrics/meters.ts', 'prom-client'],
  ],
  'src/domain/payments': [
    ...['../../api/app.ts', '../../workers/run-worker.ts', '../../sandbox/seed.ts'],
    ...['../../gateways/gateway.ts', '../../jobs/queues.ts', '../../config.ts'],
  ],
  'src/jobs': [
    ...['../api/app.ts', '../workers/run-worker.ts', '../console/main.ts', '../sandbox/seed.ts'],
    ...['../domain/transition.ts', '../gateways/registry.ts', '../admin/main.ts'],
    '../metrics/meters.ts',
  ],
  'src/gateways': [
    ...['../api/app.ts', '../workers/run-worker.ts', '../console/main.ts', '../sandbox/seed.ts'],
    ...['../jobs/outbox.ts', '../database.ts', '../admin/main.ts', '../metrics/meters.ts'],
  ],
  'src/gateways/simulator': ['../../api/app.ts', '../../jobs/outbox.ts', '../../database.ts'],
  'src/api': [
    ...['../workers/run-worker.ts', '../console/main.ts', '../sandbox/seed.ts'],
    ...['../gateways/registry.ts', '../gateways/simulator/simulator-gateway.ts'],
    '../admin/main.ts',
  ],
  'src/api/routes': ['../../workers/run-worker.ts', '../../gateways/gateway.ts'],
  'src/metrics': [
    ...['../api/app.ts', '../workers/run-worker.ts', '../console/main.ts', '../sandbox/seed.ts'],
    '../admin/main.ts',
  ],
  'src/workers': ['../api/app.ts', '../console/main.ts', '../sandbox/seed.ts', '../admin/main.ts'],
  'src/admin': [
    ...['../api/app.ts', '../workers/run-worker.ts', '../console/main.ts', '../sandbox/seed.ts'],
    '../gateways/registry.ts',
  ],
};

/** And what they may. */
const ALLOWED: Readonly<Record<string, string[]>> = {
  src: ['./domain/errors.ts', './gateways/registry.ts', './logger.ts'],
  'src/domain': ['../database.ts', '../key-ring.ts', '../jobs/outbox.ts', '../jobs/job-types.ts'],
  'src/domain/payments': ['../transition.ts', '../../database.ts', '../../jobs/outbox.ts'],
  'src/jobs': ['../database.ts', '../config.ts', '../logger.ts', './outbox.ts', 'bullmq'],
  'src/metrics': [
    '../domain/ledger/breaks.ts',
    '../jobs/queue-states.ts',
    '../gateways/gateway.ts',
  ],
  'src/gateways': ['../domain/gateway-results.ts', '../config.ts', '../key-ring.ts', 'got'],
  'src/api': ['../domain/errors.ts', '../boot.ts', '../gateways/callback-address.ts', 'express'],
  'src/api/routes': ['../../domain/errors.ts', '../../gateways/callback-address.ts'],
  'src/workers': ['../domain/transition.ts', '../jobs/queues.ts', '../gateways/registry.ts'],
  'src/admin': ['../domain/audit.ts', '../jobs/outbox.ts', '../config.ts', '../boot.ts'],
  'src/sandbox': ['../workers/start-workers.ts', '../api/app.ts', '../domain/errors.ts'],
  scripts: ['../src/sandbox/main.ts', '../src/api/app.ts'],
  test: ['../src/sandbox/seed.ts', '../src/api/app.ts', '../src/workers/run-worker.ts'],
};

/** Every way in which a file can import another. */
const FORMS: Readonly<Record<string, (from: string) => string>> = {
  'an import': (from) => `import { a } from '${from}';\n\nexport const b = a;\n`,
  'an import of a type': (from) => `import type { A } from '${from}';\n\nexport type B = A;\n`,
  'an import for its effects': (from) => `import '${from}';\n`,
  'an export from elsewhere': (from) => `export { a } from '${from}';\n`,
  'an export of everything': (from) => `export * from '${from}';\n`,
  'a dynamic import': (from) => `export const load = () => import('${from}');\n`,
};

interface Case {
  path: string;
  folder: string;
  specifier: string;
  text: string;
}

function casesOf(table: Readonly<Record<string, string[]>>, tag: string): Case[] {
  return Object.entries(table).flatMap(([folder, specifiers]) =>
    specifiers.map((specifier, index) => ({
      path: `${folder}/${tag}-${index}.ts`,
      folder,
      specifier,
      text: FORMS['an import']!(specifier),
    })),
  );
}

describe('The direction of imports, as the linter enforces it', () => {
  let folder: string;
  /** The files that the linter refuses for what they import. */
  let refused: Set<string>;

  const forbidden = casesOf(FORBIDDEN, 'forbidden');
  const allowed = casesOf(ALLOWED, 'allowed');
  const forms = Object.entries(FORMS).map(([name, write], index) => ({
    name,
    path: `src/domain/form-${index}.ts`,
    text: write('../api/app.ts'),
  }));

  before(() => {
    // A tree of its own with the project's rules, so that nobody's checkout ever holds a bad file.
    folder = mkdtempSync(join(tmpdir(), 'malipo-imports-'));
    copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'));
    for (const { path, text } of [...forbidden, ...allowed, ...forms]) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    refused = lint();
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  function lint(): Set<string> {
    const options = ['--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none'];
    const { status, stdout } = spawnSync(BIOME, ['lint', ...options, '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status, 'the linter’s exit status').to.equal(1);
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { category: string; location: { path: string } }[];
    };
    const found = diagnostics.filter(({ category }) => category.endsWith('/noRestrictedImports'));
    return new Set(found.map(({ location }) => location.path));
  }

  for (const { path, folder: from, specifier } of forbidden) {
    it(`refuses ${specifier} in ${from}`, () => {
      expect(refused.has(path)).to.equal(true);
    });
  }

  for (const { path, folder: from, specifier } of allowed) {
    it(`allows ${specifier} in ${from}`, () => {
      expect(refused.has(path)).to.equal(false);
    });
  }

  for (const { name, path } of forms) {
    it(`notices ${name}`, () => {
      expect(refused.has(path)).to.equal(true);
    });
  }
});
