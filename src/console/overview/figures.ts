import { COUNT_LIMIT } from '../../metrics/database-gauges.ts';
import type { Reading } from '../../metrics/gauges.ts';
import { spanOf } from '../shell/time.tsx';

type Labels = Readonly<Record<string, string>>;

/** What the gauges of a group say. */
export interface Gauges {
  sum(name: string, labels?: Labels): number;
  /** The largest value; 0 without any. */
  max(name: string, labels?: Labels): number;
  /** The rows of a gauge, with their labels. */
  of(name: string): Reading[];
}

export function gaugesOf(readings: Reading[]): Gauges {
  const values = (name: string, labels: Labels = {}) =>
    readings
      .filter((row) => Object.entries(labels).every(([label, value]) => row[label] === value))
      .map((row) => row[name])
      .filter((value) => typeof value === 'number');
  return {
    sum: (name, labels) => values(name, labels).reduce((sum, value) => sum + value, 0),
    max: (name, labels) => Math.max(0, ...values(name, labels)),
    of: (name) => readings.filter((row) => typeof row[name] === 'number'),
  };
}

/** Returns a count. A count that has reached its limit is "at least". */
export function countOf(count: number): string {
  const digits = count.toLocaleString('en-KE');
  return count < COUNT_LIMIT ? digits : `at least ${digits}`;
}

/** Returns a count, and how old the oldest is. */
export function countSince(count: number, seconds: number): string {
  return count === 0 ? '0' : `${countOf(count)}, the oldest for ${spanOf(seconds)}`;
}
