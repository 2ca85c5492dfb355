/** Additional properties come back with the match. */
export interface RoutePattern {
  /** `ANY` matches every HTTP method. */
  readonly method: string;
  /** Examples are `/v1/templates/{did}`, `/files/{path+}` and `$default`. */
  readonly path: string;
}

export interface RouteMatch<R extends RoutePattern> {
  readonly route: R;
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

type Segment = { readonly kind: 'literal' | 'variable' | 'greedy'; readonly name: string };

interface Candidate<R> {
  readonly route: R;
  readonly segments: readonly Segment[];
}

const defaultPath = '$default';

/**
 * Selects a route as an HTTP API does (R1): full, greedy, `$default`; then most literals, longest path, leftmost
 * literal, method. `%2F` stays in its segment; `/x/` is not `/x` (undocumented, `infra/ops check --smoke` replays it).
 * Malformed percent-encoding throws a URIError.
 */
export function createRouter<R extends RoutePattern>(
  routes: readonly R[],
): (method: string, rawPath: string) => RouteMatch<R> | undefined {
  const candidates = routes
    .map((route): Candidate<R> => ({ route, segments: segmentsOf(route.path) }))
    .sort((a, b) => compareRanks(rankOf(a), rankOf(b)));

  return (method, rawPath) => {
    const values = rawPath.split('/').slice(1).map(decodeURIComponent);
    for (const { route, segments } of candidates) {
      if (route.method !== method && route.method !== 'ANY' && route.path !== defaultPath) continue;
      const pathParameters = route.path === defaultPath ? {} : matchSegments(segments, values);
      if (pathParameters !== undefined) return { route, routeKey: routeKeyOf(route), pathParameters };
    }
    return undefined;
  };
}

function routeKeyOf(route: RoutePattern): string {
  return route.path === defaultPath ? defaultPath : `${route.method} ${route.path}`;
}

/** Returns the segments of a path; `$default` has none. */
function segmentsOf(path: string): readonly Segment[] {
  return path
    .split('/')
    .slice(1)
    .map((text) => {
      if (!text.startsWith('{')) return { kind: 'literal', name: text };
      return text.endsWith('+}')
        ? { kind: 'greedy', name: text.slice(1, -2) }
        : { kind: 'variable', name: text.slice(1, -1) };
    });
}

/** The route with the lower rank is tried first. */
function rankOf({ route, segments }: Candidate<RoutePattern>): readonly number[] {
  const greedy = segments.some((segment) => segment.kind === 'greedy');
  const literals = segments.filter((segment) => segment.kind === 'literal').length;
  return [
    route.path === defaultPath ? 2 : greedy ? 1 : 0,
    -literals,
    -segments.length,
    ...segments.map((segment) => (segment.kind === 'literal' ? 0 : 1)),
    route.method === 'ANY' ? 1 : 0,
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? left;
    if (left !== right) return left - right;
  }
  return 0;
}

function matchSegments(
  segments: readonly Segment[],
  values: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = segment.kind === 'greedy' ? values.slice(index).join('/') : values[index];
    if (!value) return undefined;
    if (segment.kind === 'literal' && value !== segment.name) return undefined;
    if (segment.kind !== 'literal') parameters[segment.name] = value;
    if (segment.kind === 'greedy') return parameters;
  }
  return segments.length === values.length ? parameters : undefined;
}
