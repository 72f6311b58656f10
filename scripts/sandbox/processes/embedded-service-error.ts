/**
 * An expected failure, such as a port that is taken or a full disk. The message is one
 * line for the user: what failed, why, and what to do.
 */
export class EmbeddedServiceError extends Error {
  override name = 'EmbeddedServiceError';
}

/** Composes `what: cause. advice`; PLACE in an advice is where it happened. */
export function embeddedFailure(what: string, detail: string, place: string): EmbeddedServiceError {
  const cause = detail.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  const [, advice] = ADVICE.find(([pattern]) => pattern.test(cause)) ?? [null, ANY_ADVICE];
  return new EmbeddedServiceError(`${what}: ${cause}. ${advice.replace('PLACE', () => place)}`);
}

/** Does the same with an error of the system; any other error is a bug, and stays as it is. */
export function explainError(error: unknown, what: string, place: string): unknown {
  const isSystemError = error instanceof Error && 'code' in error && 'syscall' in error;
  return isSystemError ? embeddedFailure(what, error.message, place) : error;
}

const ANY_ADVICE = 'Correct this and start again';

const ADVICE: readonly [RegExp, string][] = [
  [/could not bind|listen E/, 'Set SANDBOX_POSTGRES_PORT to another port, or to 0 for any'],
  [/No space left|ENOSPC|quota exceeded|EDQUOT/i, 'Free some space on the disk of PLACE'],
  [
    /Read-only file system|EROFS|ENOENT.* mkdir/i,
    'Start from a folder that can be written, unlike PLACE',
  ],
  [
    /look up effective user/i,
    'PostgreSQL needs an account with a name: start as a user that /etc/passwd lists',
  ],
  [
    /loading shared libraries|spawn \S+ ENOENT|symbol not found/i,
    'The bundled program does not run on this system (on Linux it needs glibc, so not Alpine)',
  ],
  [
    /spawn \S+ EACCES/i,
    'Give the right to run programs from PLACE (a disk mounted noexec forbids it), or set TMPDIR to a folder that allows it',
  ],
  [/spawn( \S+)? (EPERM|EINVAL)/i, 'This root cannot change user: start as an ordinary user'],
  [
    /Permission denied|Operation not permitted|EACCES|EPERM/i,
    'Give this user the right to write PLACE, or remove that folder, and start again',
  ],
];
