import type { clientOf } from './api-client.ts';
import { expectRefusal } from './refusals.ts';

/** Values of query parameters that are wrong, as they stand in an address. */
export const BAD_PAGE = ['0', '-1', '1.5', '1e3', 'x', '', ' 1', '1000000000', '%31%00', '0x1'];
export const BAD_PAGE_SIZE = [...BAD_PAGE, '101'];
export const BAD_DATE = [
  ...['', 'x', '2026-02-30', '2026-13-01', '2026-00-10', '26-01-01', '2026-1-1', '20260101'],
  ...['01/01/2026', '0000-01-01', '-001-01-01', '2026-01-01%00', 'now', '2026-01-01T00:00:00'],
  ...['2026-01-01T00:00Z', '2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:00:00ZZ'],
  ...['0001-01-01T00:00:00%2B03:00', '9999-12-31T23:59:59-03:00', '2026-01-01T00:00:00%2B3:00'],
];
export const BAD_REF_NO = ['', 'a.b', 'a%20b', '%00', '%F0%9F%8E%89', '%FF', "'", 'a%27--'];
export const BAD_PHONE = [
  '',
  '+',
  'x',
  '%2B254x',
  '1234',
  '%2B1234567890123456',
  '%00',
  '%2B%2B254712345678',
];
export const BAD_AS_OF = ['', '!', 'x', 'AAAA', 'a'.repeat(241), '%00', 'MS4yLjMuNC41', '..'];

/** Fails unless each of these values is refused by the parameter's name, also when it comes twice. */
export async function expectBadValues(
  client: ReturnType<typeof clientOf>,
  path: string,
  bad: Record<string, readonly string[]>,
): Promise<void> {
  for (const [name, values] of Object.entries(bad)) {
    for (const query of [...values.map((value) => `${name}=${value}`), `${name}=1&${name}=1`]) {
      const answer = await client.get(`${path}?${query}`);
      if (answer.status !== 400) throw new Error(`${path}?${query} came to ${answer.status}`);
      expectRefusal(answer, 400, `Invalid query parameter: ${name}`);
    }
  }
}
