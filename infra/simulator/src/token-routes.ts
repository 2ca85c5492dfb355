import * as v from 'valibot';
import { ControlError } from './control-error.ts';
import type { ControlRoute } from './control-route.ts';
import { TokenSchema } from './seed.ts';

const IssuedSchema = v.strictObject(TokenSchema.entries);
const RevokedSchema = v.strictObject({ token: TokenSchema.entries.token });

/** The platform takes a token back in the middle of everything, when a user loses a right. */
export const tokenRoutes: readonly ControlRoute[] = [
  {
    method: 'POST',
    path: '/_control/tokens',
    what: 'issue an access token: {token, waba_ids, app_id?, expires_at?}; one that is there gets these rights',
    run: ({ world }, { body }) => {
      const issued = v.parse(IssuedSchema, body);
      const strange = issued.waba_ids.find((id) => !world.wabas.has(id));
      if (strange !== undefined) throw new ControlError(400, 'waba_ids', `${strange} is no WABA`);
      world.tokens.set(issued.token, issued);
      return { success: true };
    },
  },
  {
    method: 'POST',
    path: '/_control/tokens/revoke',
    what: 'revoke an access token: {token}; whatever asks with it from then on is refused, 190',
    run: ({ world }, { body }) => {
      const { token } = v.parse(RevokedSchema, body);
      if (!world.tokens.delete(token)) throw new ControlError(400, 'token', 'is no token in force');
      return { success: true };
    },
  },
];
