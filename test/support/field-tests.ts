import { expect } from 'chai';
import type { Answer } from './api-client.ts';
import { valuesThroughApi } from './matrix.ts';
import { expectRefusal } from './refusals.ts';
import type { TestMerchant } from './test-merchant.ts';

/** What a request's fields may be, as tables. */
export interface FieldCases {
  /** The required fields, in the order of the documented table. */
  required: string[];
  /** Values that are wrong for a field, and what the caller is told of them. */
  wrong: [field: string, detail: string, values: unknown[]][];
  /** Values that are just right. */
  right: [field: string, values: string[]][];
}

interface Kit {
  /** A valid body, for the usual merchant or another one. */
  bodyOf: (overrides: Record<string, unknown>, owner?: TestMerchant) => Record<string, unknown>;
  initiate: (body: unknown, owner?: TestMerchant) => Promise<Answer>;
  /** How many records there are. */
  recorded: () => Promise<number>;
  newOwner: () => Promise<TestMerchant>;
  /** What became of an accepted request: its fields as they are stored. */
  read: (answer: Answer, owner: TestMerchant) => Promise<Record<string, unknown>>;
}

/** Makes the tests of one initiating request from the tables of its fields. */
export function itChecksFields({ required, wrong, right }: FieldCases, kit: Kit): void {
  const { bodyOf, initiate, recorded, newOwner, read } = kit;
  const first = required[0]!;

  it('asks for the missing fields, whichever way they are missing, in the order of the table', async () => {
    const before = await recorded();
    for (const [index, field] of required.entries()) {
      const text = `${field} field is required`;
      for (const missing of [undefined, null, '']) {
        expectRefusal(await initiate(bodyOf({ [field]: missing })), 400, text);
      }
      // From here on everything is missing; and what is there may be wrong.
      const rest = Object.fromEntries(required.slice(index).map((name) => [name, null]));
      const body = bodyOf({ ...(index > 0 ? { [first]: 'wrong!' } : {}), ...rest });
      expectRefusal(await initiate(body), 400, text);
    }
    expectRefusal(await initiate({}), 400, `${first} field is required`);
    expect(await recorded()).to.equal(before);
  });

  for (const [field, text, values] of wrong) {
    for (const value of valuesThroughApi(values)) {
      it(`refuses ${JSON.stringify(value).slice(0, 40)} for ${field}`, async () => {
        const before = await recorded();
        expectRefusal(await initiate(bodyOf({ [field]: value })), 400, text);
        expect(await recorded()).to.equal(before);
      });
    }
  }

  it('reports the first field that is wrong, in the order of the table', async () => {
    const firsts = wrong.filter(
      ([field], index) => wrong.findIndex(([name]) => name === field) === index,
    );
    const all = Object.fromEntries(firsts.map(([field, , values]) => [field, values[0]]));
    for (const [field, text] of firsts) {
      expectRefusal(await initiate(bodyOf(all)), 400, text);
      delete all[field];
    }
  });

  for (const [field, values] of right) {
    for (const value of valuesThroughApi(values)) {
      it(`takes ${JSON.stringify(value).slice(0, 40)} for ${field}, to the letter`, async () => {
        // Each on its own merchant, since references can repeat among the values.
        const owner = await newOwner();
        const answer = await initiate(bodyOf({ [field]: value }, owner), owner);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        const expected = field === 'amount' ? value.replace(/^0+/, '') : value;
        expect((await read(answer, owner))[field]).to.equal(expected);
      });
    }
  }
}
