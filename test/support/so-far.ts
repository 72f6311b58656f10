import type { Period } from '../../src/domain/reconciliation/statement.ts';
import { DAY_MS } from '../../src/time.ts';

/** The days of all that tests tell of: from the fixed ones of their examples until the one on which they run. */
export const SO_FAR: Period = {
  from: '2026-11-01',
  to: new Date(Date.now() + DAY_MS).toISOString().slice(0, 10),
};
