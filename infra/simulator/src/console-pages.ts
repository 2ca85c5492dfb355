import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { consoleBundle, consoleFolder } from './console-bundle.ts';
import type { Simulation } from './control-route.ts';
import type { World } from './state.ts';

export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Only what is served here loads, and no page may frame this one: templates and messages hold untrusted text. */
export const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const shownImages = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif']);

/**
 * Returns undefined for the platform's paths. Unknown paths below `/console` are 404, so that the platform counts no
 * call. Throws when the build fails.
 */
export async function consolePage({ world, service }: Simulation, path: string): Promise<Page | undefined> {
  if (path === '/') return page('text/html; charset=utf-8', readFileSync(join(consoleFolder, 'index.html')));
  if (path === '/console/icon.svg') return page('image/svg+xml', readFileSync(join(consoleFolder, 'icon.svg')));
  if (path === '/console/openapi.json') return page('application/json', service.document);
  const [, mediaId] = /^\/console\/media\/(\d+)$/.exec(path) ?? [];
  if (mediaId !== undefined) return medium(world, mediaId);
  if (path === '/console' || path === '/console/') return nothing(302, { location: '/' });
  const [, name = '', ending = ''] = /^\/console\/([\w-]+\.(js|css))$/.exec(path) ?? [];
  const built = name === '' ? undefined : (await consoleBundle()).get(name);
  if (built !== undefined) return page(`text/${ending === 'js' ? 'javascript' : 'css'}; charset=utf-8`, built);
  return path.startsWith('/console/') || path === '/favicon.ico' ? nothing(404) : undefined;
}

function medium(world: World, id: string): Page {
  const found = world.media.get(id, world.clock.nowMs());
  return found === undefined || !shownImages.has(found.type) ? nothing(404) : page(found.type, found.bytes);
}

function nothing(status: number, headers: Page['headers'] = {}): Page {
  return { status, headers: { ...securityHeaders, ...headers, 'content-length': '0' }, body: '' };
}

/** No page is cached, because the next start may serve another version at the same address. */
function page(type: string, body: string | Buffer): Page {
  const length = String(Buffer.byteLength(body));
  const headers = { ...securityHeaders, 'content-type': type, 'content-length': length, 'cache-control': 'no-store' };
  return { status: 200, headers, body };
}
