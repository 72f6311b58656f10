import { parseArgs } from 'node:util';
import { messageOf } from '../../src/connections/database-errors.ts';
import { BenchError } from './bench-error.ts';

const DEFAULT_SECONDS = 5;
const MAX_SECONDS = 60;
const DEFAULT_ROWS_COUNT = 1_000_000;
const MIN_ROWS_COUNT = 2_000;
const MAX_ROWS_COUNT = 5_000_000;
const DEFAULT_PAYMENTS_COUNT = 2_000;
const MIN_PAYMENTS_COUNT = 100;
const MAX_PAYMENTS_COUNT = 20_000;
const DEFAULT_MINUTES = 10;
const MAX_MINUTES = 24 * 60;
/** Payments per second. */
const MAX_RATE = 1_000;

/** What the command line asks for. */
export interface BenchOptions {
  /** The scenarios to run; none: all of them. */
  names: string[];
  json: boolean;
  plans: boolean;
  /** How long each measurement under load takes, in seconds. */
  seconds: number;
  /** Collections of the large merchant, for the scenarios that need many. */
  rowsCount: number;
  /** Payments of the backlog that is drained. */
  paymentsCount: number;
  /** How long the soak takes. */
  minutes: number;
  /** Payments per second that the soak offers; null: half of the most, which is measured first. */
  rate: number | null;
}

/** Reads the command line. @throws BenchError for what it does not know */
export function readOptions(args: string[], known: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new BenchError(`There is no scenario ${unknown}: choose from ${known.join(', ')}`);
  }
  return {
    names: positionals,
    json: values.json ?? false,
    plans: values.plans ?? false,
    seconds: countIn('--seconds', values.seconds, DEFAULT_SECONDS, [1, MAX_SECONDS]),
    rowsCount: countIn('--rows', values.rows, DEFAULT_ROWS_COUNT, [MIN_ROWS_COUNT, MAX_ROWS_COUNT]),
    paymentsCount: countIn('--payments', values.payments, DEFAULT_PAYMENTS_COUNT, [
      MIN_PAYMENTS_COUNT,
      MAX_PAYMENTS_COUNT,
    ]),
    minutes: countIn('--minutes', values.minutes, DEFAULT_MINUTES, [1, MAX_MINUTES]),
    rate: values.rate === undefined ? null : countIn('--rate', values.rate, 1, [1, MAX_RATE]),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        plans: { type: 'boolean' },
        seconds: { type: 'string' },
        rows: { type: 'string' },
        payments: { type: 'string' },
        minutes: { type: 'string' },
        rate: { type: 'string' },
      },
    });
  } catch (error) {
    throw new BenchError(messageOf(error));
  }
}

function countIn(
  name: string,
  text: string | undefined,
  standard: number,
  [min, max]: readonly [number, number],
): number {
  if (text === undefined) return standard;
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
  throw new BenchError(`${name} must be a whole number from ${min} to ${max}`);
}
