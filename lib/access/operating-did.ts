import type { Caller } from './caller.ts';
import { type Did, type Directory, usableDid } from './directory.ts';
import { clientIdAdvice, operatingClient } from './operating-client.ts';

/**
 * Returns the client and the DID of a request, read side by side and checked in the order of D5. Refuses as
 * `operatingClient` (D4), then as `usableDid`.
 */
export async function operatingDid(
  directory: Pick<Directory, 'hasClient' | 'findDid'>,
  caller: Caller,
  asked: { readonly did: string; readonly askedId: number | undefined },
): Promise<{ readonly clientId: number; readonly did: Did }> {
  const [clientId, found] = await Promise.all([
    operatingClient(directory, caller, asked.askedId),
    directory.findDid(asked.did),
  ]);
  return { clientId, did: usableDid(found, clientId, clientIdAdvice(caller, asked.askedId)) };
}
