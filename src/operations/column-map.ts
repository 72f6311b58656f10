import {
  COLUMN_NAMES,
  type ColumnName,
  type StatementFormat,
} from '../domain/reconciliation/statement-file.ts';
import { reader } from './readers.ts';

/** The statement's own names of its columns: `reference=Our ref,trans_id=Receipt`. */
export const columnMap = reader<StatementFormat['columns']>(
  'NAME=COLUMN,…',
  `a list of NAME=COLUMN with names out of ${COLUMN_NAMES.join(', ')}`,
  (raw) => {
    const pairs = raw.split(',').map((pair) => /^(\w+)=(.+)$/.exec(pair.trim())?.slice(1) ?? ['']);
    const isRight = pairs.every(([name]) => COLUMN_NAMES.includes(name as ColumnName));
    return isRight ? Object.fromEntries(pairs) : undefined;
  },
);
