import { findFreePort } from '../processes/port.ts';
import { type Program, type ProgramOptions, startProgram } from '../processes/program.ts';

/** A server of this process's own, on 127.0.0.1. */
export type EmbeddedServer = Program & { readonly url: string; readonly port: number };

interface ServerOptions extends Omit<ProgramOptions, 'args'> {
  /** 0 or absent: any free one. */
  port?: number;
  argsAt(port: number): string[];
  urlAt(port: number): string;
}

/** Starts a server and returns once it answers. */
export async function startServer(options: ServerOptions): Promise<EmbeddedServer> {
  const port = options.port || (await findFreePort());
  try {
    const program = await startProgram({ ...options, args: options.argsAt(port) });
    return Object.assign(program, { port, url: options.urlAt(port) });
  } catch (error) {
    const wasFree = !options.port && /Address already in use/.test(String(error));
    if (wasFree) return startServer(options);
    throw error;
  }
}
