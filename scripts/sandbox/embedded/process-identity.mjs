import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * What tells a process from a later one that was given the same pid: its start
 * time. `null` when no such process runs; a zombie counts as gone, since it only
 * waits for its parent to look and no signal can end it any further.
 *
 * Plain JavaScript because the reaper's process, which runs without tsx, needs it too.
 *
 * @param {number} pid
 * @returns {string | null}
 */
export function processIdentity(pid) {
  try {
    return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid);
  } catch {
    return null;
  }
}

/** The name (field 2) may itself hold spaces and brackets: count from after the last one. */
function identityFromProc(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return state === 'Z' || state === 'X' ? null : String(startTicks);
}

function identityFromPs(pid) {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
  const text = execFileSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], options);
  const [state, ...started] = text.trim().split(/\s+/);
  return !state || state.startsWith('Z') ? null : started.join(' ');
}
