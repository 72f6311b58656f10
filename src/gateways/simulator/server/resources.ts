/**
 * What can be submitted, by path. A further one (payouts, reversals) is one line here:
 * the routes, the state and the statement follow this table.
 */
export const RESOURCES = {
  collections: { kind: 'collection', statementKind: 'collection', direction: 'forward' },
  // For the customer a return looks like any reversal, and so it is listed as one.
  returns: { kind: 'return', statementKind: 'reversal', direction: 'back' },
} as const;

export type Resource = (typeof RESOURCES)[keyof typeof RESOURCES];
