/** The kinds of payment by path. Routes, payments and the statement follow this table. */
export const RESOURCES = {
  collections: { kind: 'collection', statementKind: 'collection', direction: 'forward' },
  payouts: { kind: 'payout', statementKind: 'payout', direction: 'forward' },
  reversals: { kind: 'reversal', statementKind: 'reversal', direction: 'back' },
  // To the customer a return looks like a reversal, so the statement lists it as one.
  returns: { kind: 'return', statementKind: 'reversal', direction: 'back' },
} as const;

export type Resource = (typeof RESOURCES)[keyof typeof RESOURCES];
