import { validate as isUuid } from 'uuid';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { ConsoleError } from '../console-error.ts';

/** Answers 404 where the domain finds nothing. */
export async function found<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    throw new ConsoleError(404, error.message);
  }
}

/** Reads a number of an address, such as that of a merchant. @throws ConsoleError for another text */
export function numberIn(params: Readonly<Record<string, string>>, name: string): number {
  const text = params[name] ?? '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new ConsoleError(404, 'There is no such page');
  return Number(text);
}

/** Reads an id of an address. @throws ConsoleError for another text */
export function uuidIn(params: Readonly<Record<string, string>>, name: string): string {
  const text = params[name] ?? '';
  if (!isUuid(text)) throw new ConsoleError(404, 'There is no such page');
  return text.toLowerCase();
}
