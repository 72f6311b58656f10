import { runAdmin } from '../../src/admin/main.ts';

/** A run that is asked for: the arguments, and the whole environment. */
export interface AdminOrder {
  args: string[];
  env: NodeJS.ProcessEnv;
}

/**
 * The command line again and again in one process, an order at a time: starting a program
 * for each run costs most of a second of a core.
 */
process.on('message', async ({ args, env }: AdminOrder) => {
  process.env = { ...env };
  const outputs = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((text: string, done?: () => void) => {
      outputs[name] += text;
      done?.();
      return true;
    }) as typeof process.stdout.write;
  }
  process.send!({ status: await runAdmin(args), ...outputs });
});
process.on('disconnect', () => process.exit());
