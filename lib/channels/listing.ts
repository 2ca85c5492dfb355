import type { Caller } from '../access/caller.ts';
import { type Clients, operatingClient } from '../access/operating-client.ts';
import type { ListedChannel } from './channel.ts';

/** An absent filter passes all, and all given ones must hold (D35). */
export interface ChannelFilters {
  readonly wa_id?: string | undefined;
  readonly waba_id?: string | undefined;
  readonly status?: string | undefined;
  readonly business_id?: string | undefined;
  /** The text is a part of the name in any letter case, never a pattern (D8). */
  readonly business_name?: string | undefined;
  /** The text is a part of client name, WABA name, number or WABA id, in any letter case. */
  readonly q?: string | undefined;
  /** True selects only deleted ones; otherwise none of them passes. */
  readonly deleted?: boolean | undefined;
}

/**
 * Returns the client whose channels a caller lists (contract, Authentication 4). Undefined means all clients: `BSP_CN`
 * without a named one. Refuses as `operatingClient`.
 */
export async function listedClient(
  clients: Clients,
  caller: Caller,
  askedId: number | undefined,
): Promise<number | undefined> {
  return caller.crossClient && askedId === undefined ? undefined : operatingClient(clients, caller, askedId);
}

export function selectChannels(channels: readonly ListedChannel[], filters: ChannelFilters): ListedChannel[] {
  const equals = (wanted: string | undefined, value: string) => wanted === undefined || value === wanted;
  const contains = (wanted: string | undefined, ...values: readonly string[]) => {
    const part = wanted?.toLowerCase();
    return part === undefined || values.some((value) => value.toLowerCase().includes(part));
  };
  return channels
    .filter(
      (channel) =>
        channel.deleted === (filters.deleted === true) &&
        equals(filters.wa_id, channel.waId) &&
        equals(filters.waba_id, channel.wabaId) &&
        equals(filters.status, channel.status) &&
        equals(filters.business_id, channel.businessId) &&
        contains(filters.business_name, channel.businessName) &&
        contains(filters.q, channel.clientName, channel.wabaName, channel.waId, channel.wabaId),
    )
    .sort((a, b) => a.clientId - b.clientId || compareText(a.waId, b.waId));
}

/** Compares by code unit, not by locale: the same on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
