import type { Service } from '../process/boot.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** What the HTTP side works with. */
export interface ApiContext extends Service {
  rateLimiter: RateLimiter;
}
