import { expect } from 'chai';
import { csvLines } from '../../../src/admin/output/csv.ts';

const of = (value: unknown) => csvLines(['x'], [{ x: value }])[1];

describe('CSV', () => {
  it('has the names first, and a carriage return before the end of each line', () => {
    expect(csvLines(['a', 'b'], [{ a: 'x', b: 2, c: 'left out' }])).to.deep.equal([
      'a,b\r',
      'x,2\r',
    ]);
    expect(csvLines(['a', 'b'], [])).to.deep.equal(['a,b\r']);
  });

  it('puts into quotes what has commas, quotes or ends of lines', () => {
    expect(of('a,b')).to.equal('"a,b"\r');
    expect(of('say "hi"')).to.equal('"say ""hi"""\r');
    expect(of('a\nb')).to.equal('"a\nb"\r');
    expect(of('a b; c')).to.equal('a b; c\r');
  });

  it('lets no spreadsheet run a formula', () => {
    for (const text of ['=1+1', '+254712345678', '-5', '@SUM(A1)', '\tx']) {
      expect(of(text), text).to.equal(`'${text}\r`);
    }
    expect(of('=HYPERLINK("http://x","y")')).to.equal(`"'=HYPERLINK(""http://x"",""y"")"\r`);
    for (const text of [' =1+1', '  -5', '＝1+1', '＋1', '－1', '＠SUM(A1)']) {
      expect(of(text), text).to.equal(`'${text}\r`);
    }
    expect(of('\n=1+1')).to.equal(`"'\n=1+1"\r`);
    expect(of(' a')).to.equal(' a\r');
    expect(of('a=b')).to.equal('a=b\r');
  });

  it('leaves numbers as they are, empty values empty, and writes objects as JSON', () => {
    expect(of(-5)).to.equal('-5\r');
    expect(of(null)).to.equal('\r');
    expect(of(undefined)).to.equal('\r');
    expect(of({ a: 1, b: 'x' })).to.equal('"{""a"":1,""b"":""x""}"\r');
  });
});
