import { RefusalAnswer } from '../../lib/http/answer.ts';
import { type RefusalCode, refusalCodes, statusOf } from '../../lib/http/refusal.ts';
import { ownHeaders, references } from './headers.ts';
import type { JsonSchema, jsonSchemas } from './json-schema.ts';
import { refusalTexts } from './refusals.ts';

type Schemas = ReturnType<typeof jsonSchemas>;

/** Every code, with what it means and what to do. */
export function refusalCodeSchema(): JsonSchema {
  return {
    type: 'string',
    description: 'Why the service says no. The list is closed; a code never changes its meaning.',
    oneOf: refusalCodes.map((code) => {
      const { title, cause, remedy } = refusalTexts[code];
      return { const: code, title, description: cause, 'x-remedy': remedy, 'x-status': statusOf(code) };
    }),
  };
}

export function refusalSchema(answer: Schemas): JsonSchema {
  const { properties, ...rest } = answer.of(RefusalAnswer) as { readonly properties: JsonSchema };
  const code = { $ref: '#/components/schemas/RefusalCode', description: 'One of a closed list; go by it.' };
  return { ...rest, properties: { ...properties, code } };
}

export const gatewayErrorSchema: JsonSchema = {
  type: 'object',
  description: 'What the gateway itself says: no function has seen the request.',
  properties: { message: { type: ['string', 'null'] } },
  required: ['message'],
  additionalProperties: false,
};

/** What the gateway says by itself on any route that it knows. */
const gatewayStatuses = {
  401: 'no token',
  413: 'more than 10 MB',
  429: 'too much of all callers',
  431: 'too long a request line or headers',
  500: 'no answer of the function',
  503: 'no answer in time',
};

/** The answers that say no; routes with the same one share it. */
export class RefusalResponses {
  readonly #byName = new Map<string, object>();

  /** Those of one route, by their status. */
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
  // The one answer without a body (D11).
  if (own.includes('invalid_credentials')) {
    return { description: `${lineOf('invalid_credentials')}.`, headers: headersOf(status, own, isPublic) };
  }
  const gateway = status === 401 && isPublic ? undefined : gatewayStatuses[status as keyof typeof gatewayStatuses];
  const refusal = {
    allOf: [{ $ref: '#/components/schemas/Refusal' }, { properties: { code: { type: 'string', enum: own } } }],
  };
  const gatewayError = { $ref: '#/components/schemas/GatewayError' };
  const schema = gateway === undefined ? refusal : own.length === 0 ? gatewayError : { anyOf: [refusal, gatewayError] };
  const lines = [...own.map(lineOf), ...(gateway === undefined ? [] : [`The gateway: ${gateway}`])];
  return {
    description: `${lines.join('. ')}.`,
    headers: headersOf(status, own, isPublic),
    content: { 'application/json': { schema } },
  };
}

function lineOf(code: RefusalCode): string {
  return `${code}: ${refusalTexts[code].title}`;
}

/** The codes that say when to ask again. */
const timed: readonly RefusalCode[] = ['request_in_progress', 'platform_rate_limited', 'too_many_requests'];

function headersOf(status: number, own: readonly RefusalCode[], isPublic: boolean) {
  return references([
    // The gateway's own answers have none of ours, and a bad token has no client to speak of.
    ...(own.length === 0 ? [] : ownHeaders({ isPublic: isPublic || status === 401 })),
    ...(own.includes('unauthorized') && !isPublic ? ['WWW-Authenticate'] : []),
    ...(own.some((code) => timed.includes(code)) ? ['Retry-After'] : []),
  ]);
}
