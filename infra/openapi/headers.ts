import * as v from 'valibot';

/** Headers of answers. */
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
  Location: { description: 'Where the button leads.', schema: v.pipe(v.string(), v.url()), required: true },
  'X-Content-Type-Options': {
    description: 'The text is nothing but text.',
    schema: v.literal('nosniff'),
    required: true,
  },
} as const;
export type HeaderName = keyof typeof headers;

const callerHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

/** Headers of every answer of a function; whoever has a good token is told how the user stands, too (D54). */
export function ownHeaders({ isPublic }: { readonly isPublic: boolean }): readonly HeaderName[] {
  return ['X-Request-Id', 'Cache-Control', ...(isPublic ? [] : callerHeaders)];
}

export function references(names: readonly string[]): Record<string, { readonly $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
