import { nearNames } from '../../lib/http/near-name.ts';
import { routes } from '../routes.ts';

/**
 * What a request that met no route probably meant: `GET /v1/templates`, or the methods that its path has. Undefined when
 * nothing is near. The gateway itself says only `Not Found` (contract, Errors), here as on AWS.
 */
export function nearRoute(method: string, path: string): string | undefined {
  const values = path.split('/');
  const paths = new Map(routes.map((route) => [filled(route.path, values), route.path]));
  const [nearest] = nearNames(path, [...paths.keys()], 1);
  const meant = nearest === undefined ? undefined : paths.get(nearest);
  if (meant === undefined) return undefined;
  const methods = routes.filter((route) => route.path === meant).map((route) => route.method);
  if (methods.some((each) => each === method)) return nearest === path ? undefined : `${method} ${meant}`;
  return methods.map((each) => `${each} ${meant}`).join(' or ');
}

/** A route's path with what was asked in the place of its variables, so that only the rest is compared. */
function filled(path: string, values: readonly string[]): string {
  return path
    .split('/')
    .map((segment, at) => (segment.startsWith('{') ? values[at] || segment : segment))
    .join('/');
}
