import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { envExample, withSettingsTables } from '../../scripts/settings-documents.ts';
import { DRIVERS } from '../../src/gateways/registry.ts';
import { settingsWith } from '../../src/process/settings.ts';
import { loadConfig } from '../../src/service/service.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const SETTINGS = settingsWith(DRIVERS);
const NAMES = Object.keys(SETTINGS);

describe('The documents of the settings', () => {
  it('are as the settings say (npm run settings)', () => {
    const tables = read('docs/settings.md');
    expect(withSettingsTables(tables)).to.equal(tables);
    expect(envExample()).to.equal(read('.env.example'));
  });

  it('show every variable once in the tables, with its default', () => {
    const rows = [...read('docs/settings.md').matchAll(/^\| `(\w+)` \| (\S+) \|.*\|$/gm)];
    const shown = new Map(rows.map(([, name, value]) => [name!, value!.replaceAll('`', '')]));
    expect(rows.map(([, name]) => name).filter((name) => NAMES.includes(name!))).to.deep.equal(
      NAMES,
    );
    expect(shown.get('DATABASE_URL')).to.equal('required');
    expect(shown.get('PORT')).to.equal('8080');
    expect(shown.get('REDIS_CLUSTER')).to.equal('false');
    expect(shown.get('REDIS_URL')).to.equal('–');
  });

  it('show every variable once in .env.example, with its default', () => {
    const lines = [...envExample().matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/gm)];
    expect(lines.map(([, name]) => name)).to.deep.equal(NAMES);
    const written = Object.fromEntries(lines.map(([, name, value]) => [name!, value!]));
    const defaults = NAMES.filter((name) => {
      const { data } = SETTINGS[name]!.safeParse(undefined);
      return (
        ['string', 'number', 'boolean'].includes(typeof data) && String(data) !== written[name]
      );
    });
    expect(defaults).to.deep.equal([]);
  });

  it('set nothing but the address of the database in .env.example', () => {
    const set = [...envExample().matchAll(/^([A-Z]\w*)=(.*)$/gm)];
    const environment = Object.fromEntries(set.map(([, name, value]) => [name, value]));
    expect(Object.keys(environment)).to.deep.equal(['DATABASE_URL']);
    expect(loadConfig(environment).databaseUrl).to.equal(environment.DATABASE_URL);
  });
});
