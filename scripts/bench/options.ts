import { parseArgs } from 'node:util';
import { anySeed, MAX_SEED } from '../daraja-simulator/draws.ts';

/** An expected failure of a run. The message is one line for the user. */
export class BenchError extends Error {
  override name = 'BenchError';
}

/** Defaults of numbers: usually, and for figures within a minute. */
const USUAL = { seconds: '5', rows: '1000000', payments: '3000' };
const QUICK = { seconds: '1', rows: '50000', payments: '600' };

export type BenchOptions = ReturnType<typeof readOptions>;

/** Reads the command line. @throws BenchError, or the TypeError of parseArgs for an unknown option */
export function readOptions(args: string[], scenarios: readonly string[]) {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      fsync: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rows: { type: 'string' },
      payments: { type: 'string' },
      minutes: { type: 'string', default: '10' },
      rate: { type: 'string' },
      seed: { type: 'string', default: String(anySeed()) },
    },
  });
  const given = { ...(values.quick ? QUICK : USUAL), ...values };
  const unknown = names.find((name) => !scenarios.includes(name));
  if (unknown) throw new BenchError(`There is no scenario ${unknown}: choose from ${scenarios}`);
  const read = (
    name: Exclude<keyof typeof values, 'json' | 'quick' | 'fsync'>,
    min: number,
    max: number,
  ) => {
    const [text, value] = [given[name]!, Number(given[name])];
    if (/^\d{1,10}$/.test(text) && value >= min && value <= max) return value;
    throw new BenchError(`--${name} must be a whole number from ${min} to ${max}`);
  };
  return {
    names,
    json: values.json,
    quick: values.quick,
    /** PostgreSQL waits for the disk at every commit, as in production. */
    fsync: values.fsync,
    seconds: read('seconds', 1, 60),
    rows: read('rows', 2_000, 5_000_000),
    payments: read('payments', 100, 100_000),
    /** Null: a whole day's. */
    dayPayments: values.payments === undefined ? null : read('payments', 100, 100_000),
    minutes: read('minutes', 1, 24 * 60),
    /** Chooses the payments of `day` and what goes wrong in it. */
    seed: read('seed', 0, MAX_SEED),
    /** Null: half of the most, which is measured first. */
    rate: values.rate === undefined ? null : read('rate', 1, 1_000),
  };
}
