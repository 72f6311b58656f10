/**
 * An expected failure of an embedded service: a port that is taken, a full disk, a
 * missing right. The message is one line that says what failed and what to do, so
 * a launcher prints it alone, without a stack.
 */
export class EmbeddedServiceError extends Error {
  override name = 'EmbeddedServiceError';
}

/** One line: `what: detail. advice`, the advice chosen by what `detail` complains about. */
export function embeddedFailure(what: string, detail: string, place: string): EmbeddedServiceError {
  const cause = detail.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return new EmbeddedServiceError(`${what}: ${cause}. ${adviceFor(cause, place)}`);
}

/** The same for whatever was thrown: errors of the system are explained, bugs stay as they are. */
export function explainError(error: unknown, what: string, place: string): unknown {
  const isSystemError = error instanceof Error && 'code' in error && 'syscall' in error;
  return isSystemError ? embeddedFailure(what, error.message, place) : error;
}

function adviceFor(cause: string, place: string): string {
  const known = ADVICE.find(([pattern]) => pattern.test(cause));
  return known ? known[1](place) : 'Correct this and start again';
}

const ADVICE: [RegExp, (place: string) => string][] = [
  [
    /could not bind|listen E/,
    () => 'Choose another port with SANDBOX_POSTGRES_PORT, or 0 for any free one',
  ],
  [
    /No space left|ENOSPC|quota exceeded|EDQUOT/i,
    (place) => `Free some space on the disk of ${place} and start again`,
  ],
  [
    /Read-only file system|EROFS/i,
    (place) => `${place} is on a read-only disk: start from a folder that can be written`,
  ],
  [
    /look up effective user/i,
    () => 'PostgreSQL needs an account with a name: start as a user that /etc/passwd lists',
  ],
  [
    /loading shared libraries|spawn \S+ ENOENT|symbol not found/i,
    () =>
      'The bundled program does not run on this system (on Linux it needs glibc, so not Alpine)',
  ],
  [
    /spawn \S+ EACCES/i,
    (place) =>
      `Give the right to run programs from ${place} (a disk mounted noexec forbids it), or set TMPDIR to a folder that allows it`,
  ],
  [
    /spawn( \S+)? (EPERM|EINVAL)/i,
    () => 'This root cannot change user here: start as an ordinary user',
  ],
  [
    /Permission denied|Operation not permitted|EACCES|EPERM/i,
    (place) => `Give this user the right to write ${place}, or remove that folder, and start again`,
  ],
];
