import { hasRow, type Transaction } from '../../connections/database.ts';
import type { Movement, MovementRef } from './movements.ts';

/** Every change of where a movement is booked. */
const REBOOKINGS: Readonly<Record<Movement['booked'], readonly Movement['booked'][]>> = {
  suspense: ['settled', 'returning', 'cleared'],
  returning: ['cleared', 'suspense'],
  settled: ['undone'],
  // A return that was undone has left the money of its collection undecided.
  cleared: ['suspense'],
  undone: [],
};

/**
 * Records that a movement is booked elsewhere now. Its journal belongs in the same transaction.
 * @throws Error when the movement cannot go there from where it is booked
 */
export async function rebookMovement(
  trx: Transaction,
  ref: MovementRef,
  booked: Movement['booked'],
): Promise<void> {
  const from = Object.entries(REBOOKINGS).filter(([, to]) => to.includes(booked));
  const isRebooked = await hasRow(
    trx,
    `UPDATE movements SET booked = :booked
     WHERE merchant_id = :merchant_id AND id = :id AND booked = ANY (:from) RETURNING id`,
    { ...ref, booked, from: from.map(([name]) => name) },
  );
  if (!isRebooked) throw new Error(`Movement ${ref.id} cannot be booked as ${booked}`);
}
