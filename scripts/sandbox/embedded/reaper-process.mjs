/**
 * The reaper's own process. It reads what to watch from its standard input, one
 * JSON object a line. When that ends without `{"close":true}`, the launcher was
 * killed, crashed or left without saying so, and everything watched is ended.
 */
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from './process-identity.mjs';

const POLL_MS = 25;
const REMOVE_RETRIES = 20;
const REMOVE_RETRY_DELAY_MS = 50;

/** @type {Map<number, { identity: string, signal: NodeJS.Signals, graceMs: number }>} */
const watched = new Map();
/** @type {Set<string>} */
const folders = new Set();
let finishing = false;

main();

function main() {
  // Whatever ends the launcher must not end the one who cleans up after it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGPIPE']) {
    process.on(signal, () => {});
  }
  process.stdout.on('error', () => {});
  process.stdin.on('error', cleanUp);
  createInterface({ input: process.stdin }).on('line', obey).on('close', cleanUp);
  process.stdout.write('ready\n');
}

function obey(line) {
  const order = parse(line);
  if (order.close) process.exit(0);
  if (order.watch) watch(order);
  if (order.unwatch) watched.delete(order.unwatch);
  if (order.removeFolder) folders.add(order.removeFolder);
}

/** A launcher that is killed while it writes leaves half a line, which asks for nothing. */
function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

function watch({ watch: pid, signal, graceMs }) {
  const identity = processIdentity(pid);
  if (identity !== null) watched.set(pid, { identity, signal, graceMs });
}

async function cleanUp() {
  if (finishing) return;
  finishing = true;
  await Promise.all([...watched].map(([pid, options]) => end(pid, options)));
  for (const folder of folders) await remove(folder);
  process.exit(0);
}

async function end(pid, { identity, signal, graceMs }) {
  const isSame = () => processIdentity(pid) === identity;
  if (!isSame()) return;
  send(pid, signal);
  // A paused process sees no signal but SIGKILL until it goes on.
  send(pid, 'SIGCONT');
  const deadline = performance.now() + graceMs;
  while (isSame() && performance.now() < deadline) await delay(POLL_MS);
  if (!isSame()) return;
  send(pid, 'SIGKILL');
  // Bounded, for a process that hangs in the kernel ends when the kernel lets it.
  const hardDeadline = performance.now() + graceMs;
  while (isSame() && performance.now() < hardDeadline) await delay(POLL_MS);
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone since it was looked at, which is what was wanted.
  }
}

/** The children of a killed server may still write for a moment, hence the retries. */
async function remove(folder) {
  const options = {
    recursive: true,
    force: true,
    maxRetries: REMOVE_RETRIES,
    retryDelay: REMOVE_RETRY_DELAY_MS,
  };
  // Nobody is left to hear of a failure; the next start removes what is left over.
  await rm(folder, options).catch(() => {});
}
