import got, { RequestError, type Response } from 'got';

const TIMEOUT_MS = 10_000;

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND/, 'its name is not found: check the address and DNS'],
  [/EAI_AGAIN/, 'the name server does not answer: check DNS'],
  [/ECONNREFUSED/, 'it refuses the connection: check the address and the firewall'],
  [/ETIMEDOUT/, `no answer came in ${TIMEOUT_MS / 1_000} s: check the firewall`],
  [/CERT|SIGNATURE|ALTNAME|SELF_SIGNED|EPROTO|SSL|TLS/, 'its certificate is not accepted'],
];

/** Sends one request without secrets. @returns the answer, or in plain words why there is none */
export async function reach(
  method: 'HEAD' | 'POST',
  url: string,
  json?: object,
): Promise<Response<string> | { problem: string }> {
  try {
    return await got(url, {
      ...{ method, responseType: 'text', timeout: { request: TIMEOUT_MS }, retry: { limit: 0 } },
      ...(json && { json }),
      ...{ followRedirect: false, throwHttpErrors: false, decompress: false },
    });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const [, cause] = CAUSES.find(([codes]) => codes.test(error.code)) ?? [];
    return { problem: cause ? `${cause} (${error.code})` : error.message };
  }
}
