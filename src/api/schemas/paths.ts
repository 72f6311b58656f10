import { type Schema, uuid } from './fields.ts';

/** Schemas of the parameters in paths, by their names. They make the documentation. */
export const pathParameters: Record<string, Schema> = {
  id: { ...uuid, description: 'The id of the record, as the list shows it' },
  checkout_id: { ...uuid, description: 'The id of the collection' },
  payout_id: { ...uuid, description: 'The id of the payout' },
  ref_no: { type: 'string', description: 'Your reference', examples: ['refund-1001'] },
};
