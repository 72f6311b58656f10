import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SEALED_TABLES } from '../../src/domain/seals/seal.ts';
import { lineOf, listSeals } from '../../src/domain/seals/seals-file.ts';
import { loadConfig } from '../../src/service/service.ts';
import { connectWorkers, startWorkers } from '../../src/workers/start-workers.ts';
import { makeFolder } from '../support/make-folder.ts';
import { sumOf, watch } from '../support/metrics.ts';
import { eventually, useStore } from '../support/world.ts';

describe('The sealing of days', () => {
  const store = useStore({ merchant: 'none' });

  it('is part of the dispatcher, which adds to the file of the operator', async () => {
    await store.rewrite(
      `UPDATE schema_migrations SET migration_time = now() - interval '60 hours'`,
    );
    const folder = makeFolder('seals');
    const file = join(folder, 'seals.jsonl');
    const config = loadConfig({ DATABASE_URL: store.url, SEALS_FOLDER: folder });
    const service = store.parts(config);
    const watching = watch(store.parts(config));
    const behind = async () => sumOf(await watching.scrape(), 'malipo_sealed_days_behind');
    expect(await behind()).to.be.greaterThan(0);
    const parts = startWorkers(service, await connectWorkers(service), ['dispatcher']);
    try {
      await eventually(
        'the file',
        async () => existsSync(file) && readFileSync(file, 'utf8') !== '',
      );
      const seals = await listSeals(store.database);
      expect(new Set(seals.map(({ table_name }) => table_name)).size).to.equal(
        SEALED_TABLES.length,
      );
      expect(readFileSync(file, 'utf8')).to.equal(`${seals.map(lineOf).join('\n')}\n`);
      expect(await behind()).to.equal(0);
    } finally {
      await Promise.all(parts.map((part) => part.close()));
      await watching.close();
    }
  });
});
