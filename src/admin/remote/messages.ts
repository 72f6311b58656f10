import { z } from 'zod';

/*
 * What the command line on another machine and the console's process say to each other.
 */

/** Where the console's process takes commands. */
export const COMMAND_PATH = '/command-line';

/** The largest command: its files are in base64 in it. */
export const MAX_COMMAND_BYTES = 16 * 1_048_576;

/** A command, with all that it needs of the machine on which it was typed. */
export const command = z.strictObject({
  args: z.array(z.string().max(4_096)).max(1_000),
  /** A password from standard input, where the command reads one. */
  input: z.string().max(4_096),
  /** The width of the terminal; null for a file or a pipe. */
  columns: z.number().int().positive().max(1_000_000).nullable(),
  /** The contents of its files in base64, by path. */
  files: z.record(z.string().max(4_096), z.base64()),
});
export type Command = z.infer<typeof command>;

/** A line of the answer. The last one has the exit status. `waits` only keeps the connection open. */
export type Frame = { out: string } | { err: string } | { waits: true } | { status: number };
