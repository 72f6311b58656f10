import { type BadCase, expectWrong } from '../../support/admin-usage.ts';

const PHONE = '+254712345678';

describe('Options of the command line for merchants, users and apps', () => {
  it('app: takes no bad products or times', () => {
    const create = 'app create --merchant 1001 --name Till';
    expectWrong([
      [create, '--products is required'],
      ...['collections,refunds', 'payouts,', ''].map(
        (products): BadCase => [
          `${create} --products=${products}`,
          '--products must be a list out of collections, payouts, disbursements',
        ],
      ),
      [
        'app update --app 5001',
        'Say what to change: --name, --products, --ip-allow-list or --webhook-secret',
      ],
      [
        'app update --app 5001 --webhook-secret new',
        '--webhook-secret must be one of app, own, not "new"',
      ],
      ['app update --app 0 --name x', "--app must be an app's code such as 5001"],
      ...['24', '1w', '-1h', '1.5h', '31d', '721h', 'h', ''].map(
        (overlap): BadCase => [
          `app rotate-secret --app 5001 --overlap=${overlap}`,
          '--overlap must be a time such as 90s, 30m, 24h or 7d (at most 30d), or 0',
        ],
      ),
    ]);
  });

  it('app: takes no bad addresses', () => {
    const cases: [list: string, line: string][] = [
      ['', 'must be IPv4 or IPv6 addresses or networks, or none'],
      ['10.0.0', 'not "10.0.0"'],
      ['10.0.0.1,', 'not ""'],
      ['example.com', 'not "example.com"'],
      ['none,10.0.0.1', 'not "none"'],
      ['010.0.0.1', 'not "010.0.0.1"'],
      ['10.0.0.0/33', 'must be a network of /0 to /32'],
      ['10.0.0.0/', 'not "10.0.0.0/"'],
      ['10.0.0.0/08', 'not "10.0.0.0/08"'],
      ['10.0.0.0/255.0.0.0', 'not "10.0.0.0/255.0.0.0"'],
      ['10.0.0.1/8', 'must be a network whose address ends where its prefix /8 does'],
      ['2001:db8::1/32', 'must be a network whose address ends'],
      ['2001:db8::/129', 'must be a network of /0 to /128'],
      ['fe80::1%eth0', 'not "fe80::1%eth0"'],
      ['::ffff:0:0/64', 'must be written as IPv4, or with a prefix of /96 or longer'],
      [Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`).join(','), 'at most 100'],
    ];
    expectWrong(
      cases.map(([list, line]) => [`app update --app 5001 --ip-allow-list=${list}`, line]),
    );
  });

  it('merchant: takes no bad particulars', () => {
    const create = (name: string, email: string, phone: string) => [
      ...['merchant', 'create', '--name', name, '--email', email, '--phone', phone],
    ];
    const update = 'merchant update --merchant 1001';
    expectWrong([
      ...[
        '',
        ' ',
        'x'.repeat(101),
        'a\u0007b',
        'a\u2028b',
        '\ud800',
        'a\u202eb',
        'a\u200bb',
        'a\u009bb',
      ].map(
        (name): BadCase => [
          create(name, 'a@x.example', PHONE),
          '--name must be 1 to 100 visible characters on one line',
        ],
      ),
      ...['0712345678', '+254201234567', '+1', '+255712345678', '254712345678', ''].map(
        (phone): BadCase => [
          create('x', 'a@x.example', phone),
          '--phone must be a Kenyan mobile number such as +254712345678',
        ],
      ),
      ...['a', 'a@b', 'a@@b.example', 'a b@c.example', '@b.example', 'jürg@b.example', ''].map(
        (email): BadCase => [create('x', email, PHONE), '--email must be an e-mail address'],
      ),
      [update, 'Say what to change'],
      [`${update} --phone 0712345678`, '--phone must be a Kenyan mobile number'],
      [`${update} --commission-bps 10001`, '--commission-bps must be a whole number from 0'],
      [`${update} --commission-bps 1.5`, '--commission-bps must be a whole number'],
      [`${update} --commission-fixed 5.5`, '--commission-fixed must be an amount of 0.00 or more'],
      [`${update} --commission-fixed -5.00`, '--commission-fixed must be an amount'],
      [`${update} --commission-fixed -0.00`, '--commission-fixed must be an amount'],
      [`${update} --rate-per-minute 0`, '--rate-per-minute must be a whole number from 1'],
      [`${update} --rate-burst 100001`, '--rate-burst must be a whole number from 1 to 100000'],
      [`${update} --rate-burst none`, '--rate-burst must be a whole number'],
      [`${update} --user-ips 10.0.0.1/8`, '--user-ips must be a network whose address ends'],
      [
        `${update} --require-totp payouts,collections`,
        '--require-totp must be a list out of payouts, transfers, reversals',
      ],
    ]);
  });

  it('user: takes no bad particulars', () => {
    const create = 'user create --merchant 1001';
    expectWrong([
      [`${create} --role Finance --email nobody`, '--email must be an e-mail address'],
      [
        `${create} --role admin --email a@x.example`,
        '--role must be one of Admin, Finance, Operator, not "admin"',
      ],
      ['user update --email a@x.example', 'Say what to change: --name, --role, --new-password'],
      [
        'user update --email a@x.example --new-password --password-stdin',
        'Either --new-password or --password-stdin, not both',
      ],
    ]);
  });
});
