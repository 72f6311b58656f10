/** Content policies of the documentation's pages. All other answers have the stricter one of the app. */

const NOTHING_ELSE = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** A guide loads our style sheet and our icon. */
export const GUIDE_POLICY = [...NOTHING_ELSE, "style-src 'self'", "img-src 'self'"].join('; ');

/**
 * The reference is drawn by Scalar's script. It makes its style elements in the browser, those of
 * its editor among them, and can give them neither a nonce nor a hash, so styles may be inline. It
 * evaluates no text as a script. Its icons are data. Requests go to this server only, so neither a
 * font, nor a proxy, nor a counter of visitors is reached.
 */
export const REFERENCE_POLICY = [
  ...NOTHING_ELSE,
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
].join('; ');
