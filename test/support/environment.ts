import { findRedisServer } from '../../scripts/sandbox/embedded/redis.ts';
import type { Reaper } from '../../scripts/sandbox/processes/reaper.ts';
import { type Roles, urlAs } from '../../scripts/sandbox/roles.ts';
import { rolesOf } from './roles.ts';

/** The servers and the folder of a run. The global setup starts them once, for all workers. */
export interface SharedServers {
  /** Tests write to disk in here only. */
  folder: string;
  serverUrl: string;
  /** The migrated database from which each test's database is cloned. */
  template: string;
  /** Begins the names of this run's databases. */
  databasePrefix: string;
}

/** Mocha's workers inherit this variable from the process that ran the global setup. */
const VARIABLE = 'MALIPO_TEST_SERVERS';
let servers: SharedServers | undefined;

export function shareServers(shared: SharedServers): void {
  process.env[VARIABLE] = JSON.stringify(shared);
}

/** Everything that the set-up has started before the first test runs. */
export const environment = {
  // Each worker has its own of these two (test/support/worker-setup.ts).
  reaper: undefined as unknown as Reaper,
  redisUrl: undefined as string | undefined,
  get folder(): string {
    return sharedServers().folder;
  },
  get serverUrl(): string {
    return sharedServers().serverUrl;
  },
  get template(): string {
    return sharedServers().template;
  },
  get databasePrefix(): string {
    return sharedServers().databasePrefix;
  },
  /** The roles of every database that is cloned from the template. */
  get roles(): Roles {
    return rolesOf(this.serverUrl, this.template);
  },
  /** Returns the address of another database on the same server, as the service's role. */
  urlOf(name: string): string {
    return urlAs(this.serverUrl, this.roles.service, this.roles.password, name);
  },
  /** The same as the role that owns the tables. */
  ownerUrlOf(name: string): string {
    return urlAs(this.serverUrl, this.roles.owner, this.roles.password, name);
  },
};

function sharedServers(): SharedServers {
  const text = process.env[VARIABLE];
  if (!text) throw new Error('No servers run here: a test that needs one is not a unit test');
  servers ??= JSON.parse(text) as SharedServers;
  return servers;
}

export type BackendName = 'postgres' | 'redis';

/** Returns the queue backends that this machine has; known before anything is started. */
export function backendsUnderTest(): BackendName[] {
  return process.env.REDIS_URL || findRedisServer() ? ['postgres', 'redis'] : ['postgres'];
}
