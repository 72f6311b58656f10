import { expect } from 'chai';
import { statementOf, valuesOf } from '../../../src/connections/statement.ts';

describe('A statement', () => {
  it('has a number for each name, the same one wherever the name stands', () => {
    const { text, bindings } = statementOf('SELECT :id, :kind WHERE a = :id');
    expect(text).to.equal('SELECT $1, $2 WHERE a = $1');
    expect(bindings).to.deep.equal(['id', 'kind']);
  });

  it('keeps what only looks like a binding', () => {
    const sql = `SELECT 'wallet:payout', 'wallet:%', a::text, to_char(now(), 'HH24:MI'), b ? 'key'`;
    expect(statementOf(sql)).to.include({ text: sql });
  });

  it('has a name that comes from its text alone', () => {
    const { name } = statementOf('SELECT :one');
    expect(name).to.be.a('string').of.length.below(64);
    expect(statementOf('SELECT :other').name).to.equal(name);
    expect(statementOf('SELECT :one + 1').name).to.not.equal(name);
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
