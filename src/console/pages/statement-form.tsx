import { CHANNELS } from '../../domain/channels/channel.ts';
import { LINE_KINDS } from '../../domain/reconciliation/statement-file.ts';
import { MAX_UPLOAD_BYTES } from '../access/upload.ts';
import { pathTo } from '../routes.ts';
import { Checks, Choice, Field } from '../shell/fields.tsx';
import { checkedWords } from '../shell/read-fields.ts';
import { ReasonForm } from '../shell/reason-form.tsx';
import type { Visit } from '../visit.ts';
import * as names from './read-statement.ts';

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
          {...names.CHANNEL}
          choices={channels.map(({ code, name }) => [String(code), `${code}: ${name}`])}
          value={form.channel}
        />
        <Field
          {...names.GATEWAY}
          required={false}
          value={form.gateway}
          hint="Only where the channel's driver has several accounts"
        />
        <Field {...names.FROM} value={form.from} hint={day} />
        <Field {...names.TO} value={form.to} hint={day} />
        <h2>The file</h2>
        <p class="field">
          <label for={names.FILE}>CSV file with a header line</label>
          <input id={names.FILE} name={names.FILE} type="file" accept=".csv,text/csv" />
          <span class="hint">
            Without one the gateway is asked. At most {MAX_UPLOAD_BYTES / MIB} MiB and{' '}
            {names.MAX_UPLOAD_LINES} lines; the command line takes more
          </span>
        </p>
        <Field
          {...names.COLUMNS}
          required={false}
          value={form.columns}
          hint="The file's names where they are not ours: reference=Our ref,trans_id=Receipt No."
        />
        <Choice {...names.KIND} choices={[names.BY_COLUMN, ...LINE_KINDS]} value={form.kind} />
        <Checks
          prefix={names.COVERS}
          legend="If a column says the kind: it has all lines of these"
          words={LINE_KINDS}
          on={checkedWords(form, names.COVERS, LINE_KINDS)}
        />
        <Field
          {...names.COMPLETE_UNTIL}
          required={false}
          value={form.complete_until}
          hint="It has all lines before this moment, such as 2026-11-20T18:00:00+03:00. Empty: no payment fails by it"
        />
        <Field
          {...names.UTC_OFFSET}
          value={form.utc_offset ?? '+03:00'}
          hint="Of times in the file that have none"
        />
      </ReasonForm>
    </>
  );
}
