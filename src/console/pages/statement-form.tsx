import { CHANNELS } from '../../domain/channels/channel.ts';
import { LINE_KINDS } from '../../domain/reconciliation/statement.ts';
import { COLUMN_NAMES } from '../../domain/reconciliation/statement-profile.ts';
import { checkStatement } from '../../operations/check-statement.ts';
import { profilesOf } from '../../operations/statement-file.ts';
import { MAX_KEPT_BYTES, MAX_UPLOAD_BYTES, type Upload } from '../access/upload.ts';
import { pathTo } from '../routes.ts';
import { Checks, Choice, Field } from '../shell/fields.tsx';
import { checkedWords } from '../shell/read-fields.ts';
import { ReasonForm } from '../shell/reason-form.tsx';
import type { Visit } from '../visit.ts';

const MIB = 1_048_576;
/** The most lines of one upload. The command line takes more. */
export const MAX_UPLOAD_LINES = 50_000;

/** Returns the name of a field's input, and the words above it. */
const named = (name: string) => ({ name, label: checkStatement.fields[name]!.label });

interface Props {
  visit: Visit;
  problem?: string | undefined;
  /** The file that was sent with what was wrong. */
  file?: Upload | null;
}

/** Asks for a statement: a file, or the days for which the gateway is asked. */
export function StatementForm({ visit, problem, file }: Props) {
  const { form, service } = visit;
  const channels = CHANNELS.filter(({ code }) => service.config.channels.has(code));
  const day = 'YYYY-MM-DD, a whole day in UTC';
  return (
    <>
      <h1>{checkStatement.title}</h1>
      <ReasonForm
        visit={visit}
        problem={problem}
        back={pathTo('reconciliation')}
        hasFile={true}
        action={pathTo('statementNew')}
        verb={checkStatement.button ?? checkStatement.title}
      >
        <p>{checkStatement.summary}. Nothing else changes before you confirm that.</p>
        <Choice
          {...named('channel')}
          choices={channels.map(({ code, name }) => [String(code), `${code}: ${name}`])}
          value={form.channel}
        />
        <Field
          {...named('gateway')}
          required={false}
          value={form.gateway}
          hint="Only where the channel's driver has several accounts"
        />
        <Field {...named('from')} value={form.from} hint={day} />
        <Field {...named('to')} value={form.to} hint={day} />
        <h2>The file</h2>
        <p class="field">
          <label for="file">CSV file with a header line</label>
          <input id="file" name="file" type="file" accept=".csv,text/csv" />
          <span class="hint">
            Without one the gateway is asked. At most {MAX_UPLOAD_BYTES / MIB} MiB and{' '}
            {MAX_UPLOAD_LINES} lines; the command line takes more. If it says more than is known,
            another member compares it
          </span>
        </p>
        {file && <Kept file={file} />}
        <Choice
          {...named('profile')}
          choices={profilesOf(service).map(({ name }) => name)}
          none="its header tells"
          value={form.profile}
        />
        <Field
          {...named('columns')}
          required={false}
          value={form.columns}
          hint={`For the form “own”: the file's names where they are not ours, such as reference=Our ref,trans_id=Receipt No. Ours are ${COLUMN_NAMES.join(', ')}`}
        />
        <Choice {...named('kind')} choices={LINE_KINDS} none="a column says it" value={form.kind} />
        <Checks
          prefix="covers_"
          legend="If a column says the kind: it has all lines of these"
          words={LINE_KINDS}
          on={checkedWords(form, 'covers_', LINE_KINDS)}
        />
        <Field
          {...named('complete_until')}
          required={false}
          value={form.complete_until}
          hint="It has all lines before this moment, such as 2026-11-20T18:00:00+03:00. Empty: no payment fails by it"
        />
        <Field
          {...named('utc_offset')}
          required={false}
          value={form.utc_offset}
          hint="Of times in the file that have none, such as +03:00. Empty: that of the file's form"
        />
      </ReasonForm>
    </>
  );
}

/** Sends the file again, unless another one is chosen. A browser does not fill in a file. */
function Kept({ file: { name, content } }: { file: Upload }) {
  if (content.length > MAX_KEPT_BYTES) {
    return <p class="warning">Choose the file once more: it is too large to be kept.</p>;
  }
  return (
    <p class="note">
      The file {name} is kept. Choose one only to take another.
      <input type="hidden" name="kept_name" value={name} />
      <input type="hidden" name="kept_file" value={content.toString('base64')} />
    </p>
  );
}
