import type { Router } from 'express';
import { strictRouter } from '../../http/strict-router.ts';
import type { Config } from '../../process/config.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';

const PATH = '/.well-known/security.txt';
/** RFC 9116 wants less than a year. What is served now is true now. */
const VALID_MS = 90 * 24 * 60 * 60 * 1_000;

/** Says where to report a vulnerability (RFC 9116). It exists only if a contact is configured. */
export function securityTextRoutes({
  securityContact,
  publicUrl,
}: Pick<Config, 'securityContact' | 'publicUrl'>): Router {
  const router = strictRouter();
  if (!securityContact) return router;
  router.get(PATH, (_req, res) => {
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${new Date(Date.now() + VALID_MS).toISOString()}`,
      `Canonical: ${publicUrl}${PATH}`,
      'Preferred-Languages: en',
    ];
    res.type('text/plain').send(`${lines.join('\n')}\n`);
  });
  refuseOtherMethods(router, [{ method: 'get', path: PATH }]);
  return router;
}
