import { expect } from 'chai';
import { createDarajaGateway } from '../../../../src/gateways/daraja/daraja-gateway.ts';
import { createDarajaTools } from '../../../../src/gateways/daraja/driver.ts';
import { readBalance } from '../../../../src/gateways/daraja/questions.ts';
import { Pace } from '../../../../src/gateways/pace.ts';
import { aConfig, aResult, SHORTCODE, startDaraja } from './daraja-support.ts';

const TAKEN = {
  ResponseCode: '0',
  ResponseDescription: 'Accept the service request successfully.',
};

describe('the operator’s questions to Daraja', () => {
  let daraja: Awaited<ReturnType<typeof startDaraja>>;
  before(async () => {
    daraja = await startDaraja();
  });
  after(() => daraja.close());

  const optionsOf = (config = aConfig()) => {
    return { shortcode: SHORTCODE, config, client: daraja.client, pace: new Pace() };
  };
  const operations = (config = aConfig()) => createDarajaTools(optionsOf(config));
  const floatOf = (config = aConfig()) =>
    createDarajaGateway({ ...optionsOf(config), settlingWindowMs: 0, answerWindowMs: 1 }).float;

  it('ask for the balances', async () => {
    daraja.answers(200, TAKEN);
    const ask = (config = aConfig()) =>
      floatOf(config)?.ask('https://a.example', 'https://b.example');
    expect(await ask()).to.equal(null);
    expect(daraja.requests[0]).to.deep.include({ path: '/mpesa/accountbalance/v1/query' });
    expect(daraja.requests[0]?.body).to.include({
      CommandID: 'AccountBalance',
      PartyA: SHORTCODE,
      IdentifierType: '4',
      ResultURL: 'https://a.example',
      QueueTimeOutURL: 'https://b.example',
    });
    const bare = aConfig({ initiator: undefined, security_credential: undefined });
    expect(await ask(bare), 'without an initiator').to.equal(undefined);
  });

  it('read the balances, negative ones too', () => {
    const AccountBalance =
      'Utility Account|KES|228037.00|228037.00|0.00|0.00&Charges Paid Account|KES|-1540.50|-1540.50|0|0.00';
    expect(readBalance(JSON.stringify(aResult({}, { AccountBalance })))).to.deep.equal([
      {
        name: 'Utility Account',
        currency: 'KES',
        currentCents: 228_037_00,
        availableCents: 228_037_00,
        reservedCents: 0,
        unclearedCents: 0,
      },
      {
        name: 'Charges Paid Account',
        currency: 'KES',
        currentCents: -1_540_50,
        availableCents: -1_540_50,
        reservedCents: 0,
        unclearedCents: 0,
      },
    ]);
  });

  it('read nothing in a balance that is not whole', () => {
    const good = 'Utility Account|KES|1.00|1.00|0.00|0.00';
    for (const bad of ['', 'A|KES|1.00', `${good}&`, `${good}|1`, 'A|KES|1.234|1|1|1', 7]) {
      const body = JSON.stringify(aResult({}, { AccountBalance: bad }));
      expect(readBalance(body), `${bad}`).to.equal(null);
    }
    const failed = aResult({ ResultCode: 21 }, { AccountBalance: good });
    expect(readBalance(JSON.stringify(failed))).to.equal(null);
    expect(readBalance('{')).to.equal(null);
  });

  it('find the name of a payee', async () => {
    const named = {
      ResponseCode: '4000',
      ResponseMessage: 'Success',
      OrganizationShortCode: '666677',
      OrganizationName: 'Duka la Mama',
    };
    daraja.answers(200, named);
    expect(await operations().payeeName!('paybill', '666677')).to.deep.equal({
      name: 'Duka la Mama',
    });
    expect(daraja.requests[0]).to.deep.equal({
      path: '/sfcverify/v1/query/info',
      body: { IdentifierType: '4', Identifier: '666677' },
    });
    await operations().payeeName!('till', '123456');
    expect(daraja.requests[1]?.body).to.include({ IdentifierType: '2' });
    expect(await operations().payeeName!('paybill', '1')).to.have.property('problem');
    for (const body of [{ ...named, ResponseCode: '4001' }, { ResponseCode: '4000' }, '<html>']) {
      daraja.answers(200, body);
      expect(await operations().payeeName!('paybill', '666677')).to.have.property('problem');
    }
  });

  it('register for statements, once or again', async () => {
    for (const name of ['ResponseStatus', 'Response Status']) {
      for (const [code, outcome] of [
        ['1000', 'registered'],
        [1001, 'known'],
      ]) {
        daraja.answers(200, { ResponseRefID: '1', [name!]: code, ShortCode: SHORTCODE });
        expect(await operations().register!('https://a.example')).to.deep.equal({ outcome });
      }
    }
    expect(daraja.requests[0]?.body).to.deep.equal({
      ShortCode: SHORTCODE,
      RequestType: 'Pull',
      NominatedNumber: '254712345678',
      CallBackURL: 'https://a.example',
    });
    daraja.answers(200, { ResponseStatus: '1002' });
    expect(await operations().register!('https://a.example')).to.have.property('problem');
  });
});
