import type { Router } from 'express';
import type { Service } from '../service/service.ts';
import type { ListTurns } from './middleware/list-turns.ts';
import type { RateLimiter } from './middleware/rate-limit.ts';

/** The path of the API, with its version. It ends the base address that merchants are given. */
export const BASE_PATH = '/api/v1';

/** The service, with what only its HTTP side needs. */
export interface ApiContext extends Service {
  rateLimiter: RateLimiter;
  /** Reads a list when it is its merchant's turn. */
  inTurn: ListTurns;
  /** Serves the endpoints, under the base path. */
  router: Router;
}
