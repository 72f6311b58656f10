import { parseArgs } from 'node:util';

/** An expected failure of a run. The message is one line for the user. */
export class BenchError extends Error {
  override name = 'BenchError';
}

export type BenchOptions = ReturnType<typeof readOptions>;

/** Reads the command line. @throws BenchError, or the TypeError of parseArgs for an unknown option */
export function readOptions(args: string[], scenarios: readonly string[]) {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '5' },
      rows: { type: 'string', default: '1000000' },
      payments: { type: 'string', default: '2000' },
      minutes: { type: 'string', default: '10' },
      rate: { type: 'string' },
    },
  });
  const unknown = names.find((name) => !scenarios.includes(name));
  if (unknown) throw new BenchError(`There is no scenario ${unknown}: choose from ${scenarios}`);
  const read = (name: Exclude<keyof typeof values, 'json'>, min: number, max: number) => {
    const [text, value] = [values[name]!, Number(values[name])];
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
    throw new BenchError(`--${name} must be a whole number from ${min} to ${max}`);
  };
  return {
    ...{ names, json: values.json },
    seconds: read('seconds', 1, 60),
    rows: read('rows', 2_000, 5_000_000),
    payments: read('payments', 100, 20_000),
    minutes: read('minutes', 1, 24 * 60),
    /** Null: half of the most, which is measured first. */
    rate: values.rate === undefined ? null : read('rate', 1, 1_000),
  };
}
