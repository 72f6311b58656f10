import { ERROR_ANSWERS } from '../src/api/error-answers.ts';
import { withGeneratedPart } from './generated-part.ts';

/** Returns docs/guides/errors.md with a table of all errors between its markers. */
export function withErrorsTable(document: string): string {
  const lines = Object.entries(ERROR_ANSWERS)
    .sort(([, one], [, other]) => one.status - other.status)
    .map(([code, { status, detail, meaning, remedy }]) =>
      tableRow(String(status), `\`${code}\``, detail, meaning, remedy),
    );
  const head = ['| Status | `code` | `detail` | It means | What to do |', '|---|---|---|---|---|'];
  return withGeneratedPart(document, 'errors', `\n${[...head, ...lines].join('\n')}\n\n`);
}

function tableRow(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
