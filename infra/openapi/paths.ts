import { routes } from '../routes.ts';

/**
 * Returns the path of a route in the document. OpenAPI forbids two paths that differ only in parameter names, so such a
 * parameter gets both names: `didOrMessageTemplateId`.
 */
export function documentedPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `{${documentedParameter(path, name)}}`);
}

export function documentedParameter(path: string, name: string): string {
  const at = path.split('/').indexOf(`{${name}}`);
  const names = routes
    .filter((route) => nameless(route.path) === nameless(path))
    .map((route) => route.path.split('/')[at]?.slice(1, -1) ?? name);
  return [...new Set(names)]
    .sort()
    .map((each, index) => (index === 0 ? each : `${each.charAt(0).toUpperCase()}${each.slice(1)}`))
    .join('Or');
}

function nameless(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}
