import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';

/** Campaigns that a caller sees; undefined for a caller with `BSP_CN`, who sees all. One read, or none. */
export async function campaignScope(
  directory: Pick<Directory, 'findUser'>,
  caller: Caller,
): Promise<ReadonlySet<number> | undefined> {
  if (caller.crossClient) return undefined;
  const user = await directory.findUser(caller.clientId, caller.userId);
  return new Set(user?.campaignIds);
}
