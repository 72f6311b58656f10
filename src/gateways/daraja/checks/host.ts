import { MINUTE_MS, SECOND_MS } from '../../../time.ts';
import type { Finding } from '../../gateway.ts';
import { ok, wrong } from './findings.ts';
import { reach } from './reach.ts';

/** The time is part of a prompt's password. */
const MAX_CLOCK_DIFFERENCE_MS = MINUTE_MS;

/** Tells whether Daraja is reached, and whether its clock and ours agree. */
export async function checkHost(baseUrl: string): Promise<Finding[]> {
  const { host } = new URL(baseUrl);
  const answer = await reach('HEAD', baseUrl);
  if ('problem' in answer) return [wrong('host', `${host} is not reached: ${answer.problem}`)];
  return [ok('host', `${host} answers`), clock(answer.headers.date)];
}

function clock(date = ''): Finding {
  const differenceMs = Date.now() - Date.parse(date);
  if (Number.isNaN(differenceMs)) return wrong('clock', 'the host does not tell its time');
  // The header has whole seconds.
  const seconds = Math.trunc(Math.abs(differenceMs) / SECOND_MS);
  if (Math.abs(differenceMs) <= MAX_CLOCK_DIFFERENCE_MS) {
    return ok('clock', `${seconds} s off the host’s`);
  }
  const direction = differenceMs > 0 ? 'fast' : 'slow';
  return wrong('clock', `ours is ${seconds} s ${direction}: prompts are refused. Use NTP`);
}
