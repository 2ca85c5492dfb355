import * as v from 'valibot';
import { type jsonSchemas, withoutConstant } from './json-schema.ts';

export const headers = {
  'X-Request-Id': {
    description: 'The id under which the log lines of the request are found. Quote it when you ask.',
    schema: v.string(),
    required: true,
  },
  'Cache-Control': {
    description: 'no-store; of a redirect, for how long its browser may keep it.',
    schema: v.string(),
    required: true,
  },
  'X-RateLimit-Limit': {
    description: 'Requests a minute of the client, or half while other users of it are active; absent without a limit.',
    schema: v.pipe(v.number(), v.integer()),
    required: false,
  },
  'X-RateLimit-Remaining': {
    description: 'How many of them are left in this minute, about.',
    schema: v.pipe(v.number(), v.integer()),
    required: false,
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until the minute is over.',
    schema: v.pipe(v.number(), v.integer()),
    required: false,
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is repeated.',
    schema: v.pipe(v.number(), v.integer(), v.minValue(0)),
    required: false,
  },
  'WWW-Authenticate': {
    description: 'Bearer: the route needs a token.',
    schema: v.literal('Bearer'),
    required: false,
  },
  'Dispatch-Id': {
    description: 'Names the dispatch: ask for its report with it. A rehearsal has none.',
    schema: v.pipe(v.string(), v.regex(/^[0-9A-HJKMNP-TV-Z]{26}$/)),
    required: false,
  },
  'Webhook-Secret': {
    description: 'A signing secret that this request made. It is shown in this answer only.',
    schema: v.pipe(v.string(), v.regex(/^whsec_/)),
    required: false,
  },
  'Template-Warning': {
    description:
      'The template can never be sent from here, and why: what a send of it would be refused with. At an edit also how many dispatches of the client wait until it is approved again.',
    schema: v.string(),
    required: false,
  },
  Link: {
    description: 'Of a table that has another page: where it is, relative to this one (RFC 8288).',
    schema: v.pipe(v.string(), v.regex(/^<\?.*>; rel="next"$/)),
    required: false,
  },
  Location: { description: 'Where the button leads.', schema: v.pipe(v.string(), v.url()), required: true },
  'X-Content-Type-Options': {
    description: 'The text is nothing but text.',
    schema: v.literal('nosniff'),
    required: true,
  },
} as const;
export type HeaderName = keyof typeof headers;

const everyAnswer = ['X-Request-Id', 'Cache-Control'] as const;
const callerHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

/**
 * Returns the headers of every answer of a function; with a good token they include the user's request budget (D54).
 */
export function ownHeaders({ isPublic }: { readonly isPublic: boolean }): readonly HeaderName[] {
  return [...everyAnswer, ...(isPublic ? [] : callerHeaders)];
}

const ofService = '.of-service';

/**
 * Returns every header by its name. Those of every function answer come also as `<name>.of-service`, optional, because
 * the gateway may answer in their place without them.
 */
export function headerComponents(answer: ReturnType<typeof jsonSchemas>): Record<string, object> {
  const component = ({ schema, ...facts }: { readonly description: string; readonly schema: v.GenericSchema }) => ({
    ...facts,
    schema: withoutConstant(answer.of(schema)),
  });
  const optional = everyAnswer.map((name) => {
    const { description, schema } = headers[name];
    return [
      `${name}${ofService}`,
      component({ description: `${description} Absent when the gateway answers.`, schema }),
    ] as const;
  });
  const all = Object.entries(headers).map(([name, header]) => [name, component(header)] as const);
  return Object.fromEntries([...all, ...optional]);
}

/** Returns references to the headers of one answer; none is required where the gateway `mayAnswer` too. */
export function references(
  names: readonly HeaderName[],
  { mayAnswer = false }: { readonly mayAnswer?: boolean } = {},
): Record<string, { readonly $ref: string }> {
  const keyOf = (name: HeaderName) =>
    mayAnswer && everyAnswer.some((each) => each === name) ? `${name}${ofService}` : name;
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${keyOf(name)}` }]));
}
