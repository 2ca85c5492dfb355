import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as v from 'valibot';
import { authorizerEvent } from './http-event.ts';
import type { InvocationResult } from './invocation-result.ts';
import type { LocalTemplate } from './local-template.ts';

export type Verdict =
  | { readonly kind: 'allowed'; readonly context: Readonly<Record<string, unknown>> | null }
  | { readonly kind: 'unauthorized' | 'forbidden' | 'failed' };

export interface AuthorizerOptions {
  readonly definition: LocalTemplate['authorizers'][string];
  readonly region: string;
  readonly nowMs: () => number;
  /** The 10 s limit is applied. */
  readonly ask: (event: unknown) => Promise<InvocationResult>;
}

/** The boolean is strict: the text "false" must not pass. */
const SimpleResponseSchema = v.object({
  isAuthorized: v.boolean(),
  context: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
});

/**
 * Creates a REQUEST authorizer with simple responses (format 2.0). Missing identity means 401; a failed function or
 * malformed answer means 500 (D2: HTTP APIs document no 401 here). Answers are cached by identity for the TTL; failures
 * are not.
 */
export function createAuthorizer(options: AuthorizerOptions): (event: APIGatewayProxyEventV2) => Promise<Verdict> {
  const { definition, nowMs } = options;
  const kept = new Map<string, { readonly verdict: Verdict; readonly untilMs: number }>();
  const cacheable = definition.cacheTtlSeconds > 0 && definition.identitySources.length > 0;
  for (const source of definition.identitySources) assertKnownSource(source);

  return async (event) => {
    const identity = definition.identitySources.map((source) => identityValue(source, event));
    if (!identity.every(isPresent)) return { kind: 'unauthorized' };
    const key = JSON.stringify(identity);
    const hit = kept.get(key);
    if (hit !== undefined && nowMs() < hit.untilMs) return hit.verdict;

    const verdict = verdictOf(await options.ask(authorizerEvent(event, identity, options.region)));
    if (cacheable && (verdict.kind === 'allowed' || verdict.kind === 'forbidden')) {
      kept.set(key, { verdict, untilMs: nowMs() + definition.cacheTtlSeconds * 1000 });
    }
    return verdict;
  };
}

function verdictOf(result: InvocationResult): Verdict {
  if (!result.ok) return { kind: 'failed' };
  const response = v.safeParse(SimpleResponseSchema, result.payload);
  if (!response.success) return { kind: 'failed' };
  return response.output.isAuthorized
    ? { kind: 'allowed', context: response.output.context ?? null }
    : { kind: 'forbidden' };
}

const sourcePattern = /^\$(?:request\.(header|querystring)\.(.+)|context\.(routeKey))$/;

function assertKnownSource(source: string): void {
  if (!sourcePattern.test(source)) throw new Error(`the local gateway cannot read the identity source ${source}`);
}

function identityValue(source: string, event: APIGatewayProxyEventV2): string | undefined {
  const [, place, name = ''] = sourcePattern.exec(source) ?? [];
  if (place === 'header') return event.headers[name.toLowerCase()];
  if (place === 'querystring') return event.queryStringParameters?.[name];
  return event.routeKey;
}

function isPresent(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
