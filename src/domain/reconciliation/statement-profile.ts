export const COLUMN_NAMES = [
  'reference',
  'trans_id',
  'account',
  'amount',
  'paid_in',
  'withdrawn',
  'completed_at',
  'kind',
  'status',
  'currency',
  'reason',
  'details',
  'balance',
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

/** The kind of a row: of a payment, a charge for one, or money of the operator's own accounts. */
export const ROW_KINDS = ['collection', 'payout', 'reversal', 'charge', 'own'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** The form of one source's files. */
export interface StatementProfile {
  name: string;
  /** The file's names of our columns. */
  columns: Readonly<Partial<Record<ColumnName, string>>>;
  /** The offset of its times, such as +03:00. Default: somebody must say it. */
  utcOffset?: string | undefined;
  /**
   * Words of a row's reason, or else of its details, that tell its kind: the first match counts.
   * Without a match, money that came in is a collection, and money that went out a payout.
   */
  rows?: readonly { words: RegExp; kind: RowKind }[] | undefined;
  /** Finds our reference in the details, as its first group. */
  reference?: RegExp | undefined;
}

/** Columns without which a header is not the profile's, if the profile names them. */
const TELLING: readonly ColumnName[] = [
  ...(['trans_id', 'amount', 'paid_in', 'withdrawn', 'completed_at', 'status'] as const),
];

/** The file has our own names, or names that somebody gives with the file. */
export const OWN: StatementProfile = { name: 'own', columns: {} };
const OWN_TELLING: readonly ColumnName[] = ['amount', 'completed_at'];

/** The export of an organisation's account in the M-PESA portal. */
const MPESA_PORTAL: StatementProfile = {
  name: 'm-pesa-portal',
  columns: {
    trans_id: 'Receipt No.',
    completed_at: 'Completion Time',
    details: 'Details',
    status: 'Transaction Status',
    paid_in: 'Paid In',
    withdrawn: 'Withdrawn',
    reason: 'Reason Type',
    account: 'Other Party Info',
  },
  utcOffset: '+03:00',
  rows: [
    { words: /charge|tariff|\bfees?\b/i, kind: 'charge' },
    { words: /reversal/i, kind: 'reversal' },
    {
      words:
        /settlement|\bown account|organi[sz]ation (fund|to bank|transfer)|(utility|working|merchant) account|transfer of funds/i,
      kind: 'own',
    },
  ],
  reference: /original conversation id is (\S+?)\.?$/i,
};

/** An account with a bank, whose days have times. */
const BANK: StatementProfile = {
  name: 'bank',
  columns: {
    trans_id: 'Transaction Reference',
    completed_at: 'Transaction Date',
    details: 'Narrative',
    paid_in: 'Credit',
    withdrawn: 'Debit',
    balance: 'Balance',
  },
  rows: [
    { words: /charge|commission|excise|\bfees?\b/i, kind: 'charge' },
    { words: /reversal/i, kind: 'reversal' },
  ],
};

/** The profiles that every installation has. The first whose header a file has counts. */
export const BUILT_IN: readonly StatementProfile[] = [MPESA_PORTAL, BANK, OWN];

/** Compares headers without case, blanks at the ends and the full stop. */
export function plainHeader(header: string): string {
  return header.trim().replace(/\.$/, '').replace(/\s+/g, ' ').toLowerCase();
}

/** Returns the file's names of the columns that a header of the profile must have. */
export function tellingColumns(
  profile: StatementProfile,
  given: StatementProfile['columns'] = {},
): string[] {
  const columns = { ...profile.columns, ...given };
  const telling = profile === OWN ? OWN_TELLING : TELLING.filter((name) => columns[name]);
  return telling.map((name) => columns[name] ?? name);
}
