import { Readable } from 'node:stream';
import { CHANNELS } from '../../domain/channels/channel.ts';
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
import { MAX_UPLOAD_BYTES, type Upload, uploadIn } from '../access/upload.ts';
import { pathTo } from '../routes.ts';
import { Checks, Choice, Field } from '../shell/fields.tsx';
import { checkedWords, readField, readOptional } from '../shell/read-fields.ts';
import { ReasonForm } from '../shell/reason-form.tsx';
import type { Visit } from '../visit.ts';

const MIB = 1_048_576;

/** Asks for a statement: a file, or the days for which the gateway is asked. */
export function StatementForm({ visit, problem }: { visit: Visit; problem?: string | undefined }) {
  const { form, service } = visit;
  const channels = CHANNELS.filter(({ code }) => service.config.channels.has(code));
  const day = 'YYYY-MM-DD, a whole day in UTC';
  return (
    <>
      <h1>Compare a statement</h1>
      <ReasonForm
        visit={visit}
        problem={problem}
        back={pathTo('reconciliation')}
        hasFile={true}
        action={pathTo('statementNew')}
        verb="Store it and see what it would find"
      >
        <p>
          This stores the statement, and says what its comparison with the books would find. Nothing
          else changes before you confirm that.
        </p>
        <Choice
          {...CHANNEL}
          choices={channels.map(({ code, name }) => [String(code), `${code}: ${name}`])}
          value={form.channel}
        />
        <Field
          {...GATEWAY}
          required={false}
          value={form.gateway}
          hint="Only where the channel's driver has several accounts"
        />
        <Field {...FROM} value={form.from} hint={day} />
        <Field {...TO} value={form.to} hint={day} />
        <h2>The file</h2>
        <p class="field">
          <label for={FILE}>CSV file with a header line</label>
          <input id={FILE} name={FILE} type="file" accept=".csv,text/csv" />
          <span class="hint">
            Without one the gateway is asked. At most {MAX_UPLOAD_BYTES / MIB} MiB and{' '}
            {MAX_UPLOAD_LINES} lines; the command line takes more
          </span>
        </p>
        <Field
          {...COLUMNS}
          required={false}
          value={form.columns}
          hint="The file's names where they are not ours: reference=Our ref,trans_id=Receipt No."
        />
        <Choice {...KIND} choices={[BY_COLUMN, ...LINE_KINDS]} value={form.kind} />
        <Checks
          prefix={COVERS}
          legend="If a column says the kind: it has all lines of these"
          words={LINE_KINDS}
          on={checkedWords(form, COVERS, LINE_KINDS)}
        />
        <Field
          {...COMPLETE_UNTIL}
          required={false}
          value={form.complete_until}
          hint="It has all lines before this moment, such as 2026-11-20T18:00:00+03:00. Empty: no payment fails by it"
        />
        <Field
          {...UTC_OFFSET}
          value={form.utc_offset ?? '+03:00'}
          hint="Of times in the file that have none"
        />
      </ReasonForm>
    </>
  );
}

/** The most lines of one upload. The command line takes more. */
export const MAX_UPLOAD_LINES = 50_000;
const MAX_NAME_LENGTH = 100;

const CHANNEL = { name: 'channel', label: 'Channel' };
const GATEWAY = { name: 'gateway', label: 'Account' };
const FROM = { name: 'from', label: 'First day' };
const TO = { name: 'to', label: 'Last day' };
const COLUMNS = { name: 'columns', label: 'Columns' };
const KIND = { name: 'kind', label: 'Kind of all lines' };
const COVERS = 'covers_';
const COMPLETE_UNTIL = { name: 'complete_until', label: 'Complete until' };
const UTC_OFFSET = { name: 'utc_offset', label: 'Offset of its times' };
const FILE = 'file';
/** Stands for "a column says it". */
const BY_COLUMN = 'a column says it';

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
