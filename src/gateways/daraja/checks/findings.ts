import type { Finding } from '../../gateway.ts';

/** Short forms of findings. */

export function ok(about: string, words: string): Finding {
  return { about, state: 'ok', words };
}

export function warning(about: string, words: string): Finding {
  return { about, state: 'warning', words };
}

export function wrong(about: string, words: string): Finding {
  return { about, state: 'wrong', words };
}
