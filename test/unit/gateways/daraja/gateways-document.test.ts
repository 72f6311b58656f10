import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  CODES,
  type Meaning,
  OPERATOR_CODE,
  OPERATOR_DESCRIPTIONS,
  type Product,
} from '../../../../src/gateways/daraja/codes.ts';
import { darajaConfigFromText } from '../../../../src/gateways/daraja/settings.ts';
import { readArguments } from '../../../support/admin-usage.ts';
import { expiredCertificate } from './expired-certificate.ts';

const DOCUMENT = readFileSync(new URL('../../../../docs/gateways.md', import.meta.url), 'utf8');

const PRODUCTS: Readonly<Record<Product, string>> = {
  stk: 'prompt',
  b2c: 'payout',
  reversal: 'reversal',
  question: 'question',
  state: 'state',
};

/** What merchants read, or why they read nothing. */
function merchantsRead(meaning: Meaning): string {
  if (meaning.class === 'operator') return `\`${OPERATOR_CODE}\`, see above`;
  if ('code' in meaning && meaning.code !== null) {
    return `\`${meaning.code}\` ${meaning.description}`;
  }
  return '–';
}

const cell = (text: string) => text.replaceAll('|', '\\|');

/** The table of codes. Plain codes in a row that mean the same share a line. */
function codesTable(): string {
  const lines: { codes: string[]; rest: string; isPlain: boolean }[] = [];
  for (const [code, products, meaning, says] of CODES) {
    const words = says ? ` with the words \`${cell(says.source)}\`` : '';
    const about = products.map((product) => PRODUCTS[product]).join(', ');
    const what = code === null ? `any${words}` : `\`${code}\`${words}`;
    const rest = `${about} | ${meaning.class} | ${merchantsRead(meaning)}`;
    const last = lines.at(-1);
    const isPlain = code !== null && !says;
    if (isPlain && last?.isPlain && last.rest === rest) last.codes.push(what);
    else lines.push({ codes: [what], rest, isPlain });
  }
  const rows = lines.map(({ codes, rest }) => `| ${codes.join(', ')} | ${rest} |`);
  return ['| Code | Of | Class | Merchants read |', '|---|---|---|---|', ...rows].join('\n');
}

describe('docs/gateways.md', () => {
  it('has every code of Daraja with what merchants read', () => {
    const [, found] = /<!-- codes -->\n\n([\s\S]*?)\n\n<!-- end of codes -->/.exec(DOCUMENT) ?? [];
    expect(found).to.equal(codesTable());
  });

  it('has what merchants read of the operator’s own trouble', () => {
    const { stk, b2c, reversal } = OPERATOR_DESCRIPTIONS;
    for (const description of [stk, b2c, reversal]) expect(DOCUMENT).to.include(description);
  });

  it('has an example that is a configuration', () => {
    const [, example] = /<!-- example -->\n```json\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'malipo-example-'));
    const [secret, certificate] = [join(folder, 'secret'), join(folder, 'cert.pem')];
    writeFileSync(secret, 'secret');
    expiredCertificate(folder);
    const json = example!
      .replaceAll(/"certificate_file": "[^"]+"/g, `"certificate_file": "${certificate}"`)
      .replaceAll(/"(\w+)_file": "\/etc[^"]+"/g, `"$1_file": "${secret}"`);
    const config = darajaConfigFromText(json);
    rmSync(folder, { recursive: true });
    expect([...config.shortcodes.keys()]).to.deep.equal([config.collections, config.payouts]);
  });

  it('has a line for each field of the configuration', () => {
    const schema = readFileSync(
      new URL('../../../../src/gateways/daraja/config-schema.ts', import.meta.url),
      'utf8',
    );
    const fields = [...schema.matchAll(/^ {2,4}([a-z]+(?:_[a-z]+)*): [a-z]/gm)].map(
      ([, name]) => name,
    );
    expect(fields).to.include.members(['base_url', 'confirm_above', 'till', 'float_alert_below']);
    const tables = DOCUMENT.split('\n').filter((line) => line.startsWith('| `'));
    for (const field of fields) {
      expect(
        tables.some((line) => line.split('|')[1]!.includes(`\`${field}\``)),
        field,
      ).to.equal(true);
    }
  });

  it('has commands that the command line takes', () => {
    const commands = [...DOCUMENT.matchAll(/\.\/bin\/malipo ([^`\n]+)/g)];
    expect(commands.length).to.be.greaterThan(10);
    for (const [, line] of commands) {
      const args = [...line!.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare!,
      );
      expect(() => readArguments(args), line).not.to.throw();
    }
  });
});
