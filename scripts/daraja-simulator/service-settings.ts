/** The credentials of the simulated shortcode. They are worth nothing elsewhere. */
const SHORTCODE = '174379';
const FIELDS = {
  consumer_key: 'sandbox-consumer-key',
  consumer_secret: 'sandbox-consumer-secret',
  passkey: 'sandbox-passkey',
  initiator: 'testapi',
  // As long as a password that was encrypted with a key of 2,048 bits.
  security_credential: Buffer.alloc(256, 'sandbox').toString('base64'),
  nominated_number: '254712345678',
  float_alert_below: '1000.00',
};

/** The simulator answers within a moment, and forgets nothing. */
const WINDOW_MS = '2000';

/** Returns the settings with which the service takes M-PESA to a Daraja simulator. */
export function darajaSettings(url: string, fields: object = {}): Record<string, string> {
  const shortcodes = { [SHORTCODE]: FIELDS };
  const config = { base_url: url, collections: SHORTCODE, payouts: SHORTCODE, shortcodes };
  return {
    DARAJA: JSON.stringify({ ...config, ...fields }),
    DARAJA_SETTLING_WINDOW_MS: WINDOW_MS,
    DARAJA_ANSWER_WINDOW_MS: WINDOW_MS,
  };
}
