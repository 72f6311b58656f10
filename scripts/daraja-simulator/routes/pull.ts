import { BAD_TOKEN } from '../error-bodies.ts';
import * as fields from '../fields.ts';
import { textOf } from '../fields.ts';
import { formatShillings } from '../money.ts';
import { parseNairobiTime } from '../nairobi-time.ts';
import type { Product } from '../product.ts';
import { reply } from '../reply.ts';
import type { Transaction } from '../transactions.ts';

const PAGE_ROWS = 100;
const isTime = (value: unknown) => textOf(value).includes(' ') && parseNairobiTime(textOf(value));

/** Allows a shortcode to pull its transactions. A second time is a success too. */
export function pullRegister(): Product {
  const registered = new Set<string>();
  return {
    path: '/pulltransactions/v1/register',
    badToken: BAD_TOKEN.pull,
    fields: [
      ['ShortCode', fields.shortCode],
      ['RequestType', fields.oneOf('Pull')],
      ['NominatedNumber', fields.phone],
      ['CallBackURL', fields.url],
    ],
    handle(world, body, res) {
      const shortCode = textOf(body.ShortCode);
      const isKnown = registered.has(shortCode);
      registered.add(shortCode);
      reply(res, 200, {
        ResponseRefID: world.ids.request(),
        'Response Status': isKnown ? '1001' : '1000',
        ShortCode: shortCode,
        'Response Description': `ShortCode ${isKnown ? 'already ' : ''}Registered Successfully`,
      });
    },
  };
}

/** Lists what customers have paid in a window, page by page. It has no payouts and no reversals. */
export const pullQuery: Product = {
  path: '/pulltransactions/v1/query',
  badToken: BAD_TOKEN.pull,
  fields: [
    ['ShortCode', fields.shortCode],
    ['StartDate', (value) => Boolean(isTime(value))],
    ['EndDate', (value) => Boolean(isTime(value))],
    ['OffSetValue', fields.matching(/^\d{1,9}$/)],
  ],
  handle(world, body, res) {
    const start = parseNairobiTime(textOf(body.StartDate))!;
    const end = parseNairobiTime(textOf(body.EndDate))!;
    const offset = Number(textOf(body.OffSetValue));
    const page = world.transactions
      .movements()
      .filter(
        ({ kind, shortCode }) => kind === 'collection' && shortCode === textOf(body.ShortCode),
      )
      .filter(({ completedAt }) => completedAt! >= start && completedAt! <= end)
      .slice(offset, offset + PAGE_ROWS);
    reply(res, 200, {
      ResponseRefID: world.ids.request(),
      ResponseCode: page.length > 0 ? '1000' : '1001',
      ResponseMessage:
        page.length > 0 ? 'Success' : 'No records found or Organization Name not available',
      // Nothing found comes as text.
      Response: page.length > 0 ? [page.map(presentRow)] : '[[]]',
    });
  },
};

function presentRow(transaction: Transaction): object {
  return {
    transactionId: transaction.receipt,
    trxDate: `${transaction.completedAt!.toISOString().slice(0, 'yyyy-MM-ddTHH:mm:ss'.length)}Z`,
    msisdn: Number(transaction.phone),
    sender: 'MPESA',
    transactiontype: 'c2b-pay-bill-debit',
    billreference: transaction.accountReference,
    amount: formatShillings(transaction.amountCents),
    organizationname: 'Simulated Organisation',
  };
}
