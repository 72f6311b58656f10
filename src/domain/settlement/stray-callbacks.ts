import { v7 as uuidv7 } from 'uuid';
import { type Database, rows } from '../../connections/database.ts';
import { storableText } from '../storable-text.ts';

const MAX_NAME_LENGTH = 50;
/** Enough to see what it is. Anybody may send more. */
const MAX_BODY_BYTES = 4_096;

/** Stores the beginning of a request to an address that is not genuine. It never moves anything. */
export async function storeStrayCallback(
  database: Database,
  gateway: string,
  body: string,
  problem: string,
): Promise<void> {
  const kept = Buffer.from(body).subarray(0, MAX_BODY_BYTES).toString('utf8');
  await rows(
    database,
    'INSERT INTO stray_callbacks (id, gateway, body, problem) VALUES (:id, :gateway, :body, :problem)',
    {
      id: uuidv7(),
      gateway: storableText(gateway, MAX_NAME_LENGTH),
      body: storableText(kept, MAX_BODY_BYTES),
      problem,
    },
  );
}
