import { closestName } from '../../lib/http/closest-name.ts';
import { type RouteEntry, routes } from '../routes.ts';

/**
 * Finds the route that a request without a match probably meant: `GET /v1/templates`, or the methods of its path;
 * undefined when nothing is near. The gateway itself answers only `Not Found` (contract, Errors).
 */
export function closestRoute(method: string, path: string): string | undefined {
  const meant = nearestPath(path);
  if (meant === undefined) return undefined;
  const methods = routes.filter((route) => route.path === meant).map((route) => route.method);
  if (!methods.some((each) => each === method)) return methods.map((each) => `${each} ${meant}`).join(' or ');
  return isMatch({ path: meant }, path) ? undefined : `${method} ${meant}`;
}

/**
 * Finds a path of the same length whose segments are all near, with the most equal ones; else a similar path without
 * variables.
 */
function nearestPath(path: string): string | undefined {
  const [nearest] = routes
    .filter((route) => isNear(route, path))
    .sort((one, other) => literalMatches(other, path) - literalMatches(one, path));
  return (
    nearest?.path ??
    closestName(
      path,
      routes.map((route) => route.path).filter((each) => !each.includes('{')),
    )
  );
}

type Pattern = Pick<RouteEntry, 'path'>;

const isVariable = (segment: string) => segment.startsWith('{');

function isNear(route: Pattern, path: string): boolean {
  const segments = route.path.split('/');
  const given = path.split('/');
  const near = (segment: string, at: number) =>
    isVariable(segment) ? given[at] !== '' : closestName(given[at] ?? '', [segment]) !== undefined;
  return segments.length === given.length && segments.every(near);
}

function literalMatches(route: Pattern, path: string): number {
  const given = path.split('/');
  return route.path.split('/').filter((segment, at) => segment === given[at]).length;
}

function isMatch(route: Pattern, path: string): boolean {
  const given = path.split('/');
  const segments = route.path.split('/');
  const matches = (segment: string, at: number) => (isVariable(segment) ? given[at] !== '' : segment === given[at]);
  return segments.length === given.length && segments.every(matches);
}
