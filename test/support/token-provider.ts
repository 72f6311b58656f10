import type { RequestListener } from 'node:http';
import type { Misbehaviour } from './broken-servers.ts';
import { bodyOf, startLocalServer } from './gateway-fixtures.ts';

export const CREDENTIALS = { consumerKey: 'the-consumer-key', consumerSecret: 'the-secret' };

/** A provider as Daraja: only the newest of its tokens is good. */
export interface TokenProvider {
  url: string;
  /** How often it was asked for a token, and how often for anything else. */
  tokenRequests: number;
  calls: number;
  /** The tokens that it has given, in order. The last one is good, unless it was ended. */
  tokens: string[];
  lifeSeconds: string;
  /** Plays one way to answer instead of its own. */
  onTokenRequest: Misbehaviour | null;
  onCall: Misbehaviour | null;
  /** Ends the newest token, as somebody else does who asks for one. */
  endToken(): void;
  close(): Promise<void>;
}

export async function startTokenProvider(): Promise<TokenProvider> {
  let good: string | null = null;
  const basic = Buffer.from(`${CREDENTIALS.consumerKey}:${CREDENTIALS.consumerSecret}`);
  const listener: RequestListener = async (req, res) => {
    await bodyOf(req);
    const answer = (status: number, body: object) => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (req.url === '/oauth/v1/generate?grant_type=client_credentials' && req.method === 'GET') {
      provider.tokenRequests += 1;
      if (provider.onTokenRequest) return provider.onTokenRequest(res, req);
      // Wrong credentials get no word at all.
      const isKnown = req.headers.authorization === `Basic ${basic.toString('base64')}`;
      if (!isKnown) return void res.writeHead(400).end();
      good = `token-${provider.tokenRequests}-of-28-letters`;
      provider.tokens.push(good);
      return answer(200, { access_token: good, expires_in: provider.lifeSeconds });
    }
    provider.calls += 1;
    if (provider.onCall) return provider.onCall(res, req);
    if (good && req.headers.authorization === `Bearer ${good}`) {
      return answer(200, { ResponseCode: '0' });
    }
    return answer(404, { errorCode: '404.001.03', errorMessage: 'Invalid Access Token' });
  };
  const server = await startLocalServer(listener);
  const provider: TokenProvider = {
    ...server,
    ...{ tokenRequests: 0, calls: 0, tokens: [], lifeSeconds: '3599' },
    ...{ onTokenRequest: null, onCall: null },
    endToken: () => {
      good = null;
    },
  };
  return provider;
}
