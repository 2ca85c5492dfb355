import type { Caller } from './caller.ts';
import { type Did, type Directory, usableDid } from './directory.ts';
import { clientIdAdvice, operatingClient } from './operating-client.ts';

/**
 * The client a request works for and the DID that its path names, read side by side: the check of every route with a DID,
 * in the order of D5. Refuses as `operatingClient` does (D4), then as `usableDid` does; a caller with `BSP_CN` who named no
 * client is told to.
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
