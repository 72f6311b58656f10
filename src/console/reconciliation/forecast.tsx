import {
  MAX_PREVIEWED_MISSING,
  type StatementPreview,
} from '../../domain/reconciliation/preview-statement.ts';

/** What the comparison of a statement would find now. */
export function Forecast({ preview }: { preview: StatementPreview }) {
  const { lines, outside, known, settles, differs, unexplained, unseen, missing } = preview;
  const atLeast = missing >= MAX_PREVIEWED_MISSING ? 'at least ' : '';
  return (
    <>
      <h2>What will happen</h2>
      <ul>
        <li>
          Of {lines} lines, {known} repeat what is booked: nothing happens.
        </li>
        <li>{settles} name an open payment with the same amount: it ends as completed.</li>
        <li>
          {differs} name a payment that has ended, or another amount: late money is booked, and a
          difference becomes a discrepancy.
        </li>
        <li>
          {unexplained} name no payment, or several: each becomes a discrepancy, unless phone,
          amount and time tell which collection it is.
        </li>
        {unseen > 0 && <li>{unseen} more lines were not looked at one by one.</li>}
        {outside > 0 && <li>{outside} lines are outside of the days, and count all the same.</li>}
        <li>
          {atLeast}
          {missing} booked movements are not in it: each becomes a discrepancy.
        </li>
        <li>
          {preview.ruled_out} overdue payments are not in it: the gateway is asked about each, and
          those fail that it does not know better.
        </li>
        <li>
          The comparison decides anew: more may become known until then. It books nothing twice.
        </li>
      </ul>
    </>
  );
}
