import type { Callbacks } from '../simulator/callbacks.ts';
import type { Quirks } from './quirks.ts';

export interface Post {
  url: string;
  shortCode: string;
  /** Stands for it in the log. */
  reference: string;
  body: object;
}

export type Posts = ReturnType<typeof createPosts>;

/** Posts callbacks as Daraja does: unsigned, and never again when the receiver fails. */
export function createPosts(callbacks: Callbacks, quirks: Quirks) {
  return {
    /** Posts it `times` times, unless a quirk loses or doubles one. Never rejects. */
    async send({ shortCode, ...post }: Post, times = 1): Promise<void> {
      const headers = {
        'content-type': 'application/json;charset=UTF-8',
        BusinessShortCode: shortCode,
      };
      for (let sent = 0; sent < times; sent += 1) {
        if (quirks.hits('callbackLost')) continue;
        await callbacks.send({ ...post, headers }, quirks.hits('callbackDoubled') ? 2 : 1);
      }
    },
  };
}
