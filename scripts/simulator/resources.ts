/** What can be submitted, by path: the routes, the state and the statement follow this table. */
export const RESOURCES = {
  collections: { kind: 'collection', statementKind: 'collection', direction: 'forward' },
  payouts: { kind: 'payout', statementKind: 'payout', direction: 'forward' },
  reversals: { kind: 'reversal', statementKind: 'reversal', direction: 'back' },
  // For the customer a return looks like any reversal, and so it is listed as one.
  returns: { kind: 'return', statementKind: 'reversal', direction: 'back' },
} as const;

export type Resource = (typeof RESOURCES)[keyof typeof RESOURCES];
