import { expect } from 'chai';
import { csvText } from '../../../src/domain/csv.ts';

const of = (value: unknown) => csvText(['x'], [{ x: value }], { withNames: false });

describe('CSV', () => {
  it('has the names first, and a carriage return before the end of each line', () => {
    expect(csvText(['a', 'b'], [{ a: 'x', b: 2, c: 'left out' }])).to.equal('a,b\r\nx,2\r\n');
    expect(csvText(['a', 'b'], [])).to.equal('a,b\r\n');
  });

  it('goes on without the names', () => {
    expect(csvText(['a', 'b'], [{ a: 'x', b: 2 }], { withNames: false })).to.equal('x,2\r\n');
    expect(csvText(['a', 'b'], [], { withNames: false })).to.equal('');
  });

  it('puts into quotes what has commas, quotes or ends of lines', () => {
    expect(of('a,b')).to.equal('"a,b"\r\n');
    expect(of('say "hi"')).to.equal('"say ""hi"""\r\n');
    expect(of('a\nb')).to.equal('"a\nb"\r\n');
    expect(of('a b; c')).to.equal('a b; c\r\n');
  });

  it('lets no spreadsheet run a formula', () => {
    for (const text of ['=1+1', '+254712345678', '-5', '@SUM(A1)', '\tx']) {
      expect(of(text), text).to.equal(`'${text}\r\n`);
    }
    expect(of('=HYPERLINK("http://x","y")')).to.equal(`"'=HYPERLINK(""http://x"",""y"")"\r\n`);
    for (const text of [' =1+1', '  -5', '＝1+1', '＋1', '－1', '＠SUM(A1)']) {
      expect(of(text), text).to.equal(`'${text}\r\n`);
    }
    expect(of('\n=1+1')).to.equal(`"'\n=1+1"\r\n`);
    expect(of(' a')).to.equal(' a\r\n');
    expect(of('a=b')).to.equal('a=b\r\n');
  });

  it('leaves numbers as they are, empty values empty, and writes objects as JSON', () => {
    expect(of(-5)).to.equal('-5\r\n');
    expect(of(null)).to.equal('\r\n');
    expect(of(undefined)).to.equal('\r\n');
    expect(of({ a: 1, b: 'x' })).to.equal('"{""a"":1,""b"":""x""}"\r\n');
  });
});
