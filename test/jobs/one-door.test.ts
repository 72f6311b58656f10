import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

/** The one file that may have each piece of SQL. */
const DOORS: readonly [door: string, sql: RegExp][] = [
  ['jobs/outbox.ts', /INSERT INTO outbox/],
  ['domain/payments/transition.ts', /INSERT INTO payment_history/],
  ['domain/payments/transition.ts', /SET status = :to_status/],
  ['domain/ledger/post-journal.ts', /INSERT INTO entries/],
  ['domain/webhooks/create-event.ts', /INSERT INTO events/],
];

describe('One door', () => {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }));

  for (const [door, sql] of DOORS) {
    it(`leads to ${sql.source}: ${door}`, () => {
      const found = sources.filter(({ text }) => sql.test(text)).map(({ path }) => path);
      expect(found).to.deep.equal([door]);
    });
  }
});
