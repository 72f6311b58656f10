import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { environment } from './environment.ts';

/** A user of the tests' Redis with all rights, and then these rules as `ACL SETUSER` takes them. */
export async function createRedisUser(...rules: string[]): Promise<{
  url: string;
  drop(): Promise<void>;
}> {
  const name = `user-${randomUUID()}`;
  const redis = new Redis(environment.redisUrl!);
  await redis.acl('SETUSER', name, 'on', '>secret', '~*', '&*', '+@all', ...rules);
  const url = new URL(environment.redisUrl!);
  url.username = name;
  url.password = 'secret';
  return {
    url: url.href,
    drop: async () => {
      await redis.acl('DELUSER', name);
      redis.disconnect();
    },
  };
}
