import { OperatorRefusal } from '../../domain/errors.ts';
import { type AppRecord, PRODUCTS } from '../../domain/merchants/app.ts';
import { ipAllowList } from '../../operations/ip-allow-list.ts';
import * as read from '../../operations/readers.ts';
import { Checks, Field } from '../shell/fields.tsx';
import { checkedWords, readField } from '../shell/read-fields.ts';
import type { Visit } from '../visit.ts';

const NAME = { name: 'name', label: 'Name' };
const ADDRESSES = { name: 'ip_allow_list', label: 'May call from' };
const PRODUCT = 'product_';

type Particulars = Pick<AppRecord, 'name' | 'products' | 'ip_allow_list'>;

/** Reads what a form says of an app. @throws OperatorRefusal that says what is wrong */
export function particularsIn(form: Visit['form']): Particulars {
  const products = checkedWords(form, PRODUCT, PRODUCTS);
  if (products.length === 0) throw new OperatorRefusal('Check at least one product');
  return {
    products,
    name: readField(form, NAME, read.name),
    ip_allow_list: readField(form, ADDRESSES, ipAllowList),
  };
}

/** The fields of an app, with what was given before, or what it is now. */
export function AppFields({ app, given }: { app: Particulars; given: Visit['form'] }) {
  const on = given.name === undefined ? app.products : checkedWords(given, PRODUCT, PRODUCTS);
  return (
    <>
      <Field {...NAME} value={given.name ?? app.name} />
      <Checks prefix={PRODUCT} legend="Products" words={PRODUCTS} on={on} />
      <Field
        {...ADDRESSES}
        value={given.ip_allow_list ?? (app.ip_allow_list.join(', ') || 'none')}
        hint="Addresses and networks such as 10.0.0.0/8, separated by commas. none: anywhere"
      />
    </>
  );
}
