import { Readable } from 'node:stream';
import { OperatorRefusal } from '../../domain/errors.ts';
import type { Period } from '../../domain/reconciliation/statement.ts';
import {
  LINE_KINDS,
  readStatement,
  StatementFileError,
} from '../../domain/reconciliation/statement-file.ts';
import { columnMap } from '../../operations/column-map.ts';
import * as read from '../../operations/readers.ts';
import { askForStatement, type GivenStatement, gatewayOf } from '../../service/reconciliation.ts';
import { type Upload, uploadIn } from '../access/upload.ts';
import { checkedWords, readField, readOptional } from '../shell/read-fields.ts';
import type { Visit } from '../visit.ts';

/** The most lines of one upload. The command line takes more. */
export const MAX_UPLOAD_LINES = 50_000;
const MAX_NAME_LENGTH = 100;

export const CHANNEL = { name: 'channel', label: 'Channel' };
export const GATEWAY = { name: 'gateway', label: 'Account' };
export const FROM = { name: 'from', label: 'First day' };
export const TO = { name: 'to', label: 'Last day' };
export const COLUMNS = { name: 'columns', label: 'Columns' };
export const KIND = { name: 'kind', label: 'Kind of all lines' };
export const COVERS = 'covers_';
export const COMPLETE_UNTIL = { name: 'complete_until', label: 'Complete until' };
export const UTC_OFFSET = { name: 'utc_offset', label: 'Offset of its times' };
export const FILE = 'file';
/** Stands for "a column says it". */
export const BY_COLUMN = 'a column says it';

/** Reads or fetches the statement that a form is about. @throws OperatorRefusal for what is wrong */
export async function statementIn({ service, req, form, member }: Visit) {
  const channel = readField(form, CHANNEL, read.channel);
  const period: Period = {
    from: readField(form, FROM, read.day),
    to: readField(form, TO, read.day),
  };
  if (period.from > period.to) throw new OperatorRefusal('The last day is before the first');
  const named = readOptional(form, GATEWAY, read.text('NAME', MAX_NAME_LENGTH));
  const gateway = gatewayOf(service, channel, named);
  const file = uploadIn(req, FILE);
  const given = file
    ? await readUpload(form, file, channel.type === 'Mobile Money')
    : await askForStatement(service, gateway, period);
  if (given.lines.length > MAX_UPLOAD_LINES) {
    throw new OperatorRefusal(
      `The statement has over ${MAX_UPLOAD_LINES} lines: take fewer days, or the command line`,
    );
  }
  const brought_by = file ? member.email : null;
  const of = { period, gateway: gateway.name, channel: channel.code };
  return { gateway, statement: { ...given, ...of, brought_by } };
}

async function readUpload(
  form: Visit['form'],
  { name, content }: Upload,
  isMobileMoney: boolean,
): Promise<GivenStatement> {
  const kind = form.kind === BY_COLUMN ? undefined : readField(form, KIND, read.oneOf(LINE_KINDS));
  const covers = kind ? [kind] : checkedWords(form, COVERS, LINE_KINDS);
  const format = {
    kind,
    isMobileMoney,
    columns: readOptional(form, COLUMNS, columnMap) ?? {},
    utcOffset: readField(form, UTC_OFFSET, read.utcOffset),
  };
  const complete_until = readOptional(form, COMPLETE_UNTIL, read.moment) ?? null;
  try {
    const lines = await readStatement(Readable.from([content]), format, MAX_UPLOAD_LINES);
    return { lines, source: name.slice(0, MAX_NAME_LENGTH), covers, complete_until };
  } catch (error) {
    if (!(error instanceof StatementFileError)) throw error;
    throw new OperatorRefusal(`The file ${error.message}`);
  }
}
