import { RefusalAnswer } from '../../lib/http/answer.ts';
import { type RefusalCode, refusalCodes, statusOf } from '../../lib/http/refusal.ts';
import { type HeaderName, ownHeaders, references } from './headers.ts';
import type { JsonSchema, jsonSchemas } from './json-schema.ts';
import { refusalTexts } from './refusals.ts';

type Schemas = ReturnType<typeof jsonSchemas>;

/** Lists every code; `x-refusals` has its meaning and remedy. */
export function refusalCodeSchema(): JsonSchema {
  const entries = refusalCodes.map((code) => [code, { status: statusOf(code), ...refusalTexts[code] }] as const);
  return {
    type: 'string',
    description: 'Why the service says no. The list is closed; a code never changes its meaning.',
    enum: refusalCodes,
    'x-refusals': Object.fromEntries(entries),
  };
}

/** Returns the bodies of refusals: of the service, of the gateway, and of either. */
export function refusalSchemas(answer: Schemas): Record<string, JsonSchema> {
  const { properties, ...rest } = answer.of(RefusalAnswer) as { readonly properties: JsonSchema };
  const code = { $ref: '#/components/schemas/RefusalCode', description: 'One of a closed list; go by it.' };
  return {
    Refusal: { ...rest, properties: { ...properties, code } },
    GatewayError: {
      type: 'object',
      description: 'What the gateway itself says: no function has seen the request.',
      properties: { message: { type: ['string', 'null'] } },
      required: ['message'],
    },
    RefusalOrGatewayError: { anyOf: [reference('Refusal'), reference('GatewayError')] },
  };
}

function reference(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

/** The gateway itself gives these answers, on any route that it knows. */
const gatewayStatuses = {
  401: 'no token',
  413: 'more than 10 MB',
  429: 'too much of all callers',
  431: 'too long a request line or headers',
  500: 'no answer of the function',
  503: 'no answer in time',
};

/** Routes with the same refusal share its answer. */
export class RefusalResponses {
  readonly #byName = new Map<string, object>();

  of(codes: readonly RefusalCode[], { isPublic }: { readonly isPublic: boolean }): Record<number, { $ref: string }> {
    const ofGateway = Object.keys(gatewayStatuses)
      .map(Number)
      .filter((status) => !(isPublic && status === 401));
    const statuses = [...new Set([...codes.map(statusOf), ...ofGateway])].sort((a, b) => a - b);
    return Object.fromEntries(statuses.map((status) => [status, this.#shared(status, codes, isPublic)]));
  }

  components(): Record<string, object> {
    return Object.fromEntries([...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #shared(status: number, codes: readonly RefusalCode[], isPublic: boolean): { $ref: string } {
    const own = refusalCodes.filter((code) => statusOf(code) === status && codes.includes(code));
    const name = [isPublic ? 'public' : 'caller', status, ...own].join('-');
    this.#byName.set(name, responseOf(status, own, isPublic));
    return { $ref: `#/components/responses/${name}` };
  }
}

function responseOf(status: number, own: readonly RefusalCode[], isPublic: boolean) {
  // This refusal alone has no body (D11).
  if (own.includes('invalid_credentials')) {
    const headers = headersOf(status, own, { isPublic, mayAnswer: false });
    return { description: `${lineOf('invalid_credentials')}.`, headers, 'x-codes': own };
  }
  const gateway = status === 401 && isPublic ? undefined : gatewayStatuses[status as keyof typeof gatewayStatuses];
  const schema = reference(
    gateway === undefined ? 'Refusal' : own.length === 0 ? 'GatewayError' : 'RefusalOrGatewayError',
  );
  const lines = [...own.map(lineOf), ...(gateway === undefined ? [] : [`The gateway: ${gateway}`])];
  return {
    description: `${lines.join('. ')}.`,
    headers: headersOf(status, own, { isPublic, mayAnswer: gateway !== undefined }),
    content: { 'application/json': { schema } },
    'x-codes': own,
  };
}

function lineOf(code: RefusalCode): string {
  return `${code}: ${refusalTexts[code].title}`;
}

/** Answers with these codes have a `Retry-After`. */
const timed: readonly RefusalCode[] = ['request_in_progress', 'platform_rate_limited', 'too_many_requests'];

function headersOf(
  status: number,
  own: readonly RefusalCode[],
  { isPublic, mayAnswer }: { readonly isPublic: boolean; readonly mayAnswer: boolean },
) {
  const names: HeaderName[] = [
    // The gateway's own answers lack our headers, and a bad token names no client to count for.
    ...(own.length === 0 ? [] : ownHeaders({ isPublic: isPublic || status === 401 })),
    ...(own.includes('unauthorized') && !isPublic ? (['WWW-Authenticate'] as const) : []),
    ...(own.some((code) => timed.includes(code)) ? (['Retry-After'] as const) : []),
  ];
  return references(names, { mayAnswer });
}
