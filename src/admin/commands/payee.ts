import { OperatorRefusal } from '../../domain/errors.ts';
import { required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { type Noun, reads } from '../verb.ts';
import { accountsOf, GATEWAY } from './account-tools.ts';

const number = read.textThat('NUMBER', 'a till or PayBill number of 5 to 9 digits', (text) =>
  /^\d{5,9}$/.test(text),
);

const check = reads({
  role: 'viewer',
  summary: 'Shows the name of a business before it is paid',
  options: {
    type: required('type', read.oneOf(['till', 'paybill'] as const), 'What kind of number it is'),
    number: required('number', number, 'The number of the till or PayBill'),
    gateway: GATEWAY,
  },
  argument: 'number',
  run: async (service, { type, number, gateway }) => {
    const asking = accountsOf(service, gateway).find(([, tools]) => tools.payeeName);
    if (!asking) throw new OperatorRefusal('No account can ask for names');
    const answer = await asking[1].payeeName!(type, number);
    if ('problem' in answer) {
      throw new OperatorRefusal(`No name for the ${type} ${number}: ${answer.problem}`);
    }
    const { name } = answer;
    return {
      data: { type, number, name, gateway: asking[0] },
      lines: [`${type} ${number}: ${name}`],
    };
  },
});

export const payee: Noun = { summary: 'Businesses that are to be paid', verbs: { check } };
