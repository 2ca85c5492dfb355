import { createServer, type ServerResponse } from 'node:http';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';

/** The platform only lists templates, page by page, and fails on demand. */
export interface PlatformServer {
  readonly baseUrl: string;
  /** A test may change the templates by WABA. Entries may be unreadable on purpose. */
  readonly templates: Map<string, unknown[]>;
  /** A WABA's answer replaces its list: an HTTP status with a body. A deleted entry restores the list. */
  readonly failures: Map<string, { readonly status: number; readonly body: unknown; readonly retryAfter?: string }>;
  /** A request is `<waba>?<query>`. */
  readonly requests: string[];
  close(): Promise<void>;
}

export async function startPlatformServer(): Promise<PlatformServer> {
  const templates: PlatformServer['templates'] = new Map();
  const failures: PlatformServer['failures'] = new Map();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, , wabaId = ''] = url.pathname.split('/');
    requests.push(`${wabaId}${url.search}`);
    const failure = failures.get(wabaId);
    if (failure !== undefined) {
      if (failure.retryAfter !== undefined) response.setHeader('retry-after', failure.retryAfter);
      return reply(response, failure.status, failure.body);
    }
    if (request.headers.authorization !== 'Bearer demo-token') {
      return reply(response, 401, { error: { message: 'Invalid OAuth access token', code: 190 } });
    }
    const name = url.searchParams.get('name');
    const all = (templates.get(wabaId) ?? []).filter(
      (entry) => name === null || (entry as PlatformTemplate).name.includes(name),
    );
    const limit = Number(url.searchParams.get('limit') ?? 25);
    const start = Number(url.searchParams.get('after') ?? 0);
    const end = start + limit;
    const next = `https://nowhere.example${url.pathname}?access_token=demo-token&after=${end}`;
    return reply(response, 200, {
      data: all
        .slice(start, end)
        .map(url.searchParams.get('fields') === 'id,name,language' ? nameOnly : (entry) => entry),
      paging: { cursors: { before: String(start), after: String(end) }, ...(end < all.length ? { next } : {}) },
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    templates,
    failures,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const nameOnly = (entry: unknown) => {
  const { id, name, language } = entry as PlatformTemplate;
  return { id, name, language };
};

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
