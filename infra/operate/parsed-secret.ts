import * as v from 'valibot';
import { CommandError } from './command.ts';

/** What provisioning wrote into a secret is missing, or was changed by hand. */
export class UnreadableSecret extends CommandError {
  constructor({ name, holds }: SecretOf) {
    super(
      `what is stored in the secret ${name} are no ${holds}s that can be read; put its last good value back, ` +
        `or write {} into it and provision with every ${holds} in the file.`,
      1,
    );
    this.name = 'UnreadableSecret';
  }
}

export interface SecretOf {
  readonly name: string;
  readonly holds: 'platform credential' | 'platform app';
}

/** Parses the text of a secret. Throws `UnreadableSecret` instead of the parsers' own errors, which quote the text. */
export function parsedSecret<T>(secret: SecretOf, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof v.ValiError) throw new UnreadableSecret(secret);
    throw error;
  }
}
