import { routes } from '../routes.ts';

/**
 * The path of a route as the document spells it. OpenAPI takes two paths that differ in the names of their parameters only
 * for one: there the parameter has the names of both, such as `didOrMessageTemplateId`. Nobody sees them on the wire.
 */
export function documentedPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `{${documentedParameter(path, name)}}`);
}

/** The name of a parameter of a path in the document. */
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
