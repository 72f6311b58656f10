import { Writable } from 'node:stream';
import { expect } from 'chai';
import { columnsOf, showAs } from '../../../src/admin/output/display.ts';
import { moment, render, table } from '../../../src/admin/output/table.ts';

const ID = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';
const ROWS = [
  { id: ID, name: 'x'.repeat(60), error: 'one word after the other '.repeat(3).trim(), note: null },
  { id: ID, name: 'Duka', error: 'timeout', note: 'kept whole' },
];
const COLUMNS = ['id', 'name', 'error', 'note'] as const;
const inWidth = (columns: number | null) =>
  showAs({ zone: 'EAT', columns }, () => table(ROWS, COLUMNS));

describe('Tables of the command line', () => {
  it('are whole where nothing says how wide they may be', () => {
    const lines = inWidth(null);
    expect(lines).to.deep.equal(table(ROWS, COLUMNS));
    expect(lines[1]).to.include(ROWS[0]!.name).and.include(ROWS[0]!.error);
    expect(inWidth(1_000)).to.deep.equal(lines);
  });

  it('shorten the widest texts until they fit, and no other column', () => {
    const lines = inWidth(120);
    expect(Math.max(...lines.map((line) => line.length))).to.equal(120);
    expect(lines[1]).to.match(new RegExp(`^${ID}  x{10,}…  one word .*…  -$`));
    expect(lines[2]).to.match(new RegExp(`^${ID}  Duka +timeout +kept whole$`));
    const [, , cells] = [...lines[1]!.matchAll(/\S(?:.*?)(?= {2}|$)/g)].map(([text]) => text);
    expect(cells, 'both are as wide').to.have.length(/x+…/.exec(lines[1]!)![0].length);
  });

  it('are blocks of lines where shortened texts are not enough', () => {
    expect(inWidth(60)).to.deep.equal([
      ...[`ID     ${ID}`, `NAME   ${ROWS[0]!.name}`, `ERROR  ${ROWS[0]!.error}`],
      ...['', `ID     ${ID}`, 'NAME   Duka', 'ERROR  timeout', 'NOTE   kept whole'],
    ]);
    const nested = showAs({ zone: 'EAT', columns: 60 }, () => render({ found: ROWS }));
    expect(nested.slice(0, 3)).to.deep.equal(['', 'Found:', `  ID     ${ID}`]);
    const narrow = showAs({ zone: 'EAT', columns: 80 }, () => render({ found: ROWS.slice(1) }));
    expect(narrow[2]).to.match(/^ {2}ID +NAME +ERROR +NOTE$/);
  });

  it('fit a terminal, or COLUMNS; a file or a pipe has no width', () => {
    const output = (more: object) => Object.assign(new Writable(), more);
    expect(columnsOf(output({}), {})).to.equal(null);
    expect(columnsOf(output({}), { COLUMNS: '99' })).to.equal(99);
    expect(columnsOf(output({ isTTY: true, columns: 80 }), {})).to.equal(80);
    expect(columnsOf(output({ isTTY: true, columns: 80 }), { COLUMNS: '99' })).to.equal(99);
    expect(columnsOf(output({ isTTY: true, columns: 0 }), { COLUMNS: '' })).to.equal(120);
    for (const COLUMNS of ['0', '-1', 'wide']) {
      expect(columnsOf(output({ isTTY: true, columns: 80 }), { COLUMNS })).to.equal(80);
    }
  });
});

describe('Texts from outside', () => {
  const CONTROLS = [
    '061c',
    '200e',
    '200f',
    '202a',
    '202e',
    '2066',
    '2069',
    '200b',
    'feff',
    '001b',
    '009b',
    '0000',
  ];

  it('stand in the order that they have, with what would turn or hide them spelt out', () => {
    for (const code of CONTROLS) {
      const name = `Duka${String.fromCharCode(Number.parseInt(code, 16))}001 KES`;
      const shown = `Duka\\u${code}001 KES`;
      expect(table([{ name }], ['name'])).to.deep.equal(['NAME', shown]);
      expect(render({ name })).to.deep.equal([`  name  ${shown}`]);
    }
  });
});

describe('Times of the command line', () => {
  const late = new Date('2026-11-20T22:30:01.999Z');

  it('are those of Nairobi, or of UTC, with the name of the clock', () => {
    expect(moment(late)).to.equal('2026-11-21 01:30:01 EAT');
    expect(showAs({ zone: 'UTC', columns: null }, () => moment(late))).to.equal(
      '2026-11-20 22:30:01 UTC',
    );
  });

  it('are read in documents too, and only there where a value is a moment', () => {
    const document = { created_at: late.toISOString(), reason: `since ${late.toISOString()}` };
    expect(render(document)).to.deep.equal([
      '  created at  2026-11-21 01:30:01 EAT',
      '  reason      since 2026-11-20T22:30:01.999Z',
    ]);
  });
});
