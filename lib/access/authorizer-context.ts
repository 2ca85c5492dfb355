import * as v from 'valibot';

const contextNumber = v.pipe(v.string(), v.regex(/^\d{1,16}$/), v.transform(Number), v.safeInteger());

/**
 * What the authorizer hands to the endpoints, as they read it. HTTP APIs carry values as strings only, so numbers and lists
 * are spelled as text. Both are deployed by themselves, and the gateway keeps a context for a minute: endpoints read what
 * a released authorizer says, and those that are released read what this one says (D47). So a member may be added, which
 * readers pass over and may not ask for until it is released; none goes or changes its spelling.
 */
export const AuthorizerContextSchema = v.object({
  verdict: v.literal('authorized'),
  userId: v.pipe(v.string(), v.minLength(1)),
  clientId: contextNumber,
  permissions: v.pipe(
    v.string(),
    v.transform((text) => text.split(' ').filter((word) => word !== '')),
  ),
  expiresAtSeconds: contextNumber,
});

/** The same as it is written. */
export type AuthorizerContext = v.InferInput<typeof AuthorizerContextSchema>;

/** The context for whatever is not a good token. Endpoints take anything but `authorized` for a refusal. */
export const unauthorizedContext = { verdict: 'unauthorized' } as const;

/** The context for a verified token. */
export function authorizerContext(token: {
  readonly userId: string;
  readonly clientId: number;
  readonly permissions: readonly string[];
  readonly expiresAtSeconds: number;
}): AuthorizerContext {
  return {
    verdict: 'authorized',
    userId: token.userId,
    clientId: String(token.clientId),
    permissions: token.permissions.join(' '),
    expiresAtSeconds: String(token.expiresAtSeconds),
  };
}
