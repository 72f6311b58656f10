import type { Router } from 'express';
import type { Service } from '../process/boot.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** The service, with what only its HTTP side needs. */
export interface ApiContext extends Service {
  rateLimiter: RateLimiter;
  /** Serves the endpoints, under the base path. */
  router: Router;
}
