import * as v from 'valibot';
import { CommandError } from './command.ts';

/** What provisioning has written into a secret is not there any more, or was changed by hand. */
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
  /** What it has many of. */
  readonly holds: 'platform credential' | 'platform app';
}

/**
 * What `parse` makes of a secret's text. Throws `UnreadableSecret` for what the parsers refuse: their own words are not
 * passed on, both quote what they read.
 */
export function parsedSecret<T>(secret: SecretOf, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof v.ValiError) throw new UnreadableSecret(secret);
    throw error;
  }
}
