import {
  bookOwnMove,
  isMoveBooked,
  type OwnMove,
  requireOwnAccounts,
} from '../domain/gateway-accounts/own-moves.ts';
import { formatAmount, kes } from '../domain/money.ts';
import { ENTRY_REFERENCE, isEntryReference } from '../domain/wallets/operator-entries.ts';
import type { Service } from '../service/service.ts';
import { required } from './field.ts';
import { define, SECOND_ADMIN } from './operation.ts';
import * as read from './readers.ts';

const MAX_ACCOUNT_LENGTH = 60;
const account = read.text('ACCOUNT', MAX_ACCOUNT_LENGTH);
const ACCOUNTS = 'bank, capital, losses, or a gateway and its account, such as GATEWAY/utility';

const check = ({ gateways }: Service, move: OwnMove) =>
  requireOwnAccounts(move, [...gateways.keys()]);

/** Books money that the operator has moved between its own accounts. */
export const moveOwnMoney = define({
  name: 'ledger.move',
  role: 'admin',
  title: 'Book a move of own money',
  button: 'Book',
  summary:
    "Books money that was moved between the operator's accounts: the bank, and accounts at gateways",
  notes: `The first balance of an account is a move from the bank, and that of the bank a move from capital. A move from losses takes back a loss that was booked wrongly. It moves no money itself.`,
  fields: {
    from_account: required('from', account, ACCOUNTS),
    to_account: required('to', account, ACCOUNTS),
    amount_cents: required('amount', read.positiveAmount, 'Such as 50000.00'),
    reference: required(
      'reference',
      read.textThat('REFERENCE', ENTRY_REFERENCE, isEntryReference),
      'As the bank or the gateway names it: a second move with it books nothing',
    ),
  },
  asksFirst: true,
  preview: async ({ service }, move) => {
    if (!move) return null;
    check(service, move);
    const { from_account, to_account, amount_cents, reference } = move;
    const isBooked = await isMoveBooked(service.database, move);
    return [
      isBooked
        ? `Reference ${reference} is booked already: nothing changes.`
        : `${kes(amount_cents)} leave ${from_account} and come to ${to_account} in the books, under the reference ${reference}.`,
    ];
  },
  twoPeople: SECOND_ADMIN.twoPeople,
  approval: async ({ service }, move) => {
    check(service, move);
    if (await isMoveBooked(service.database, move)) return null;
    const { from_account, to_account, amount_cents, reference } = move;
    return {
      subject: `${from_account} to ${to_account}, ${formatAmount(amount_cents)}, reference ${reference}`,
      merchant_id: null,
      amount_cents,
      payload: { from_account, to_account, amount_cents, reference },
      why: SECOND_ADMIN.why,
    };
  },
  perform: async ({ audited, service }, move) => {
    check(service, move);
    const isDone = await audited((trx) => bookOwnMove(trx, move));
    const { reference } = move;
    return {
      title: isDone
        ? 'The move is booked'
        : `Reference ${reference} was booked before: nothing was changed`,
      facts: move,
      more: { repeated: !isDone },
      isDone,
    };
  },
});
