import { expect } from 'chai';
import { renewStatements, statementOf, valuesOf } from '../../../src/connections/statement.ts';

/** Without what the texts of this process have in common. */
const plain = (text: string) => text.replace(/ \/\* \d+ \*\/$/, '');

describe('A statement', () => {
  /** Other tests of this process may have filled the room for names. */
  const forgetAll = () => renewStatements(statementOf('SELECT 1'));

  beforeEach(forgetAll);

  after(forgetAll);

  it('has a number for each name, the same one wherever the name stands', () => {
    const { text, bindings } = statementOf('SELECT :id, :kind WHERE a = :id');
    expect(plain(text)).to.equal('SELECT $1, $2 WHERE a = $1');
    expect(bindings).to.deep.equal(['id', 'kind']);
  });

  it('keeps what only looks like a binding', () => {
    const sql = `SELECT 'wallet:payout', 'wallet:%', a::text, to_char(now(), 'HH24:MI'), b ? 'key'`;
    expect(plain(statementOf(sql).text)).to.equal(sql);
  });

  it('has a name that comes from its text alone', () => {
    const { name } = statementOf('SELECT :one');
    expect(name).to.be.a('string').of.length.below(64);
    expect(statementOf('SELECT :other').name).to.equal(name);
    expect(statementOf('SELECT :one + 1').name).to.not.equal(name);
  });

  it('has another text and name once its plan is stale, as all others have', () => {
    const [one, other] = [statementOf('SELECT :one'), statementOf('SELECT 1')];
    renewStatements(one);
    renewStatements(other);
    const renewed = statementOf('SELECT :one');
    expect(renewed.generation).to.equal(one.generation + 1);
    expect([renewed.name, renewed.text]).to.not.include.members([one.name, one.text]);
    expect(plain(renewed.text)).to.equal(plain(one.text));
    expect(statementOf('SELECT 1').name).to.not.equal(other.name);
  });

  it('has no name when so many are kept that texts must vary with the data', () => {
    const names = Array.from(
      { length: 1_001 },
      (_, number) => statementOf(`SELECT ${number}`).name,
    );
    expect(names.indexOf(undefined)).to.equal(1_000);
    expect(statementOf('SELECT 7').name).to.equal(names[7]);
  });

  it('takes its values by name, also null and false', () => {
    const statement = statementOf('SELECT :b, :a, :c');
    expect(valuesOf(statement, { a: null, b: false, c: 0, more: 1 })).to.deep.equal([
      false,
      null,
      0,
    ]);
  });

  it('says which value is missing', () => {
    const statement = statementOf('SELECT :b, :a');
    expect(() => valuesOf(statement, { a: undefined, b: 1 })).to.throw(
      'The value :a is missing for: SELECT $1, $2',
    );
  });
});
