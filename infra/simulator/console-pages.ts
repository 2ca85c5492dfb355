import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openApiDocument } from './service-routes.ts';
import type { World } from './state.ts';

/** Something that the browser is given as it is. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const sources = join(import.meta.dirname, 'console');

/**
 * Nothing that is not served here is run, shown or asked, nothing written into a page is run, and no other page shows this
 * one in a frame: texts of templates and messages are those of strangers.
 */
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

/** The images that a browser shows without being asked what is in them. */
const shownImages = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif']);

/** The text of each file by its name: `app.js`, which every page begins with, `style.css`, and a file for each page. */
type Bundle = ReadonlyMap<string, string>;

let bundling: Promise<Bundle> | undefined;

/**
 * The console's scripts and style, built from the sources when the first page asks for them and kept from then on: a start
 * pays nothing for it, and there is no built file that could be older than its sources.
 */
export function consoleBundle(): Promise<Bundle> {
  bundling ??= bundle();
  bundling.catch(() => {
    bundling = undefined;
  });
  return bundling;
}

async function bundle(): Promise<Bundle> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { app: join(sources, 'main.tsx'), style: join(sources, 'style.css') },
    outdir: sources,
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'silent',
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}

/**
 * What the console's pages are made of; undefined: the path is none of theirs. Whatever else is below `/console` is not
 * there: the platform, which would count it as a call, is not asked. Throws when the sources cannot be built.
 */
export async function consolePage(world: World, path: string): Promise<Page | undefined> {
  if (path === '/') return page('text/html; charset=utf-8', readFileSync(join(sources, 'index.html')));
  if (path === '/console/icon.svg') return page('image/svg+xml', readFileSync(join(sources, 'icon.svg')));
  if (path === '/console/openapi.json') return page('application/json', openApiDocument());
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

/** Never kept: the next start may be another version at the same address. */
function page(type: string, body: string | Buffer): Page {
  const length = String(Buffer.byteLength(body));
  const headers = { ...securityHeaders, 'content-type': type, 'content-length': length, 'cache-control': 'no-store' };
  return { status: 200, headers, body };
}
