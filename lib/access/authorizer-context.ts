import * as v from 'valibot';

const contextNumber = v.pipe(v.string(), v.regex(/^\d{1,16}$/), v.transform(Number), v.safeInteger());

/**
 * Endpoints read the authorizer's context as text, as HTTP APIs require. Both sides deploy apart and contexts are
 * cached (D47), so endpoints ignore a new member until its release, and no member goes or changes.
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

export type AuthorizerContext = v.InferInput<typeof AuthorizerContextSchema>;

/** A missing or bad token gets it. Endpoints refuse every verdict but `authorized`. */
export const unauthorizedContext = { verdict: 'unauthorized' } as const;

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
