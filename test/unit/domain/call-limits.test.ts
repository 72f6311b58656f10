import { expect } from 'chai';
import {
  LONGEST_CALL_MS,
  MAX_CLAIM_AGE_MS,
  MAX_GATEWAY_TIMEOUT_MS,
} from '../../../src/domain/submission/call-limits.ts';
import { ConfigError } from '../../../src/process/config.ts';
import { loadConfig } from '../../../src/service/service.ts';

describe('The longest call to a gateway', () => {
  const load = (timeoutMs: number) =>
    loadConfig({
      DATABASE_URL: 'postgres://localhost/malipo',
      GATEWAY_TIMEOUT_MS: String(timeoutMs),
    });

  it('has ended, counted from its claim, when others believe that none is under way', () => {
    expect(MAX_CLAIM_AGE_MS + MAX_GATEWAY_TIMEOUT_MS).to.be.lessThan(LONGEST_CALL_MS);
    expect(load(MAX_GATEWAY_TIMEOUT_MS).gatewayTimeoutMs).to.equal(MAX_GATEWAY_TIMEOUT_MS);
    expect(() => load(MAX_GATEWAY_TIMEOUT_MS + 1)).to.throw(ConfigError, 'GATEWAY_TIMEOUT_MS');
  });
});
