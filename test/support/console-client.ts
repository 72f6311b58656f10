/** What the console has answered. */
export interface ConsoleAnswer {
  status: number;
  text: string;
  headers: Headers;
  /** Where it sends the browser; null when it does not. */
  location: string | null;
}

/** A browser without scripts: it keeps cookies, and the token of the last form that it has seen. */
export interface ConsoleClient {
  cookies: Map<string, string>;
  csrf: string;
  /** What the last form says of the state that it was made from. */
  version: string | undefined;
  get(path: string, headers?: Record<string, string>): Promise<ConsoleAnswer>;
  /** Sends a form with the token of the last page. */
  post(path: string, fields?: Record<string, string>): Promise<ConsoleAnswer>;
  /** Sends a form that may have a file, with the token of the last page. */
  postFile(path: string, fields: Record<string, string | File>): Promise<ConsoleAnswer>;
  /** Sends a form as it is. */
  postRaw(
    path: string,
    fields: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<ConsoleAnswer>;
}

export function consoleClient(origin: string): ConsoleClient {
  const send = async (path: string, init: RequestInit): Promise<ConsoleAnswer> => {
    const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) };
    const response = await fetch(`${origin}${path}`, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      client.cookies.set(name!, value!);
    }
    const text = await response.text();
    client.version = /name="version" value="([^"]+)"/.exec(text)?.[1] ?? client.version;
    client.csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? client.csrf;
    const { status } = response;
    return { status, text, headers: response.headers, location: response.headers.get('location') };
  };
  const postRaw: ConsoleClient['postRaw'] = (path, fields, headers = {}) =>
    send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  const client: ConsoleClient = {
    cookies: new Map(),
    csrf: '',
    version: undefined,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, fields = {}) => {
      const { version, csrf: _csrf } = client;
      return postRaw(path, { ...(version !== undefined && { version }), ...fields, _csrf });
    },
    postFile: (path, fields) => {
      const body = new FormData();
      const all = Object.entries({ ...fields, _csrf: client.csrf });
      for (const [name, value] of all) body.append(name, value);
      return send(path, { method: 'POST', body });
    },
    postRaw,
  };
  return client;
}
