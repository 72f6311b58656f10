import { inTransaction } from '../connections/database.ts';
import { recordAudit } from '../domain/audit.ts';
import { boot, type Service } from '../process/boot.ts';
import type { Answer, ChangeContext } from './command.ts';
import { type Request, readCommandLine } from './command-line.ts';
import { FAILED, failureOf } from './failure.ts';
import { help } from './help.ts';
import { print } from './output.ts';

type Order = Extract<Request, { help: false }>;

/**
 * Does what the arguments say and prints the answer on standard output, or one line on
 * standard error. @returns the exit status: 0, 1 for a failure, 2 for wrong usage.
 */
export async function runAdmin(args: string[]): Promise<number> {
  try {
    const request = readCommandLine(args, process.env);
    const { output, status } = await respond(request);
    await print(process.stdout, `${output}\n`);
    return status;
  } catch (error) {
    const { status, line } = failureOf(error);
    await print(process.stderr, `${line}\n`);
    return status;
  }
}

async function respond(request: Request): Promise<{ output: string; status: number }> {
  if (request.help) return { output: help(request.noun, request.verb).join('\n'), status: 0 };
  const { data, lines, isFailure } = await carryOut(request);
  const output = request.json ? JSON.stringify(data) : lines.join('\n');
  return { output, status: isFailure ? FAILED : 0 };
}

async function carryOut(order: Order): Promise<Answer> {
  const service = await boot('admin');
  try {
    return await execute(service, order);
  } finally {
    await service.database.destroy();
  }
}

/** Does what was read from the command line, over what is open already. */
export async function execute(service: Service, { command, ...order }: Order): Promise<Answer> {
  if (!command.changes) return command.run(service, order.values);
  return command.run(changeContext(service, order), order.values);
}

function changeContext(service: Service, order: Omit<Order, 'command'>): ChangeContext {
  const { actor, reason } = order.operator!;
  const action = `${order.noun}.${order.verb}`;
  return {
    service,
    actor,
    reason,
    audited: (work) =>
      inTransaction(service.database, async (trx) => {
        const { value, audit } = await work(trx);
        if (audit) await recordAudit(trx, { ...audit, actor, action, reason });
        return value;
      }),
  };
}
