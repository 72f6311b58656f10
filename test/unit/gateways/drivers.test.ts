import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadNouns } from '../../../src/admin/nouns.ts';
import { DRIVER_OPERATIONS } from '../../../src/gateways/driver-operations.ts';
import { callbackAnswerFor, DRIVERS } from '../../../src/gateways/registry.ts';
import { settingsWith, topicsWith } from '../../../src/process/settings.ts';
import { loadConfig } from '../../../src/service/service.ts';

const SOURCE = new URL('../../../src/', import.meta.url);
const REGISTRY = 'gateways/registry.ts';
/** The list of the drivers' operations, which help loads without the drivers. */
const OPERATIONS = 'gateways/driver-operations.ts';

describe('The drivers of gateways', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );

  for (const { name } of DRIVERS) {
    it(`are named in their own folder and in the registry alone: ${name}`, () => {
      const naming = files.filter((file) =>
        readFileSync(new URL(file, SOURCE), 'utf8').toLowerCase().includes(name),
      );
      const folder = `gateways/${name}/`;
      expect(naming).to.include.members([REGISTRY, `${folder}driver.ts`]);
      const elsewhere = naming.filter((file) => !file.startsWith(folder) && file !== OPERATIONS);
      expect(elsewhere).to.deep.equal([REGISTRY]);
    });
  }

  it('share no setting and no noun of the command line', async () => {
    const own = DRIVERS.flatMap(({ settings }) => Object.keys(settings));
    const others = Object.keys(settingsWith([]));
    expect(new Set([...own, ...others]).size).to.equal(own.length + others.length);
    expect(Object.keys(topicsWith(DRIVERS).Gateways)).to.include.members(own);
    const nouns = Object.values(DRIVER_OPERATIONS).flatMap((each) => Object.keys(each.nouns));
    const all = Object.keys(await loadNouns());
    for (const noun of nouns) expect(all.filter((each) => each === noun)).to.deep.equal([noun]);
  });

  it('answer callbacks in the words of their provider', () => {
    const accepted = { status: 200, body: { ResultCode: 0, ResultDesc: 'Accepted' } };
    expect(callbackAnswerFor('daraja-600980')).to.deep.equal(accepted);
    expect(callbackAnswerFor('simulator')).to.deep.equal({
      status: 200,
      body: { status: 'received' },
    });
    for (const unknown of ['darajas', 'other', '']) {
      expect(callbackAnswerFor(unknown), unknown).to.deep.equal({ status: 200, body: {} });
    }
  });

  it('find their own settings in the configuration, and no others', () => {
    const config = loadConfig({ DATABASE_URL: 'postgres://unused', SIMULATOR_URL: 'http://a.b' });
    expect([...config.drivers.keys()]).to.deep.equal(DRIVERS.map(({ name }) => name));
    for (const { name, settings } of DRIVERS) {
      expect(Object.keys(config.drivers.get(name)!)).to.deep.equal(Object.keys(settings));
    }
    expect(config.drivers.get('simulator')).to.include({ SIMULATOR_URL: 'http://a.b' });
    expect(config).not.to.have.property('simulatorUrl');
  });
});
