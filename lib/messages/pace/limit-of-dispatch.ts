import type { ChannelStore } from '../../channels/channel-store.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { limitPerSecondOf } from './number-limit.ts';

interface LimitPorts {
  readonly channels: Pick<ChannelStore, 'findNumber'>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

type Limit = (head: DispatchHead) => Promise<number | undefined>;

/**
 * Returns messages a second that a dispatch's number may send (D43); undefined while what the platform reported cannot
 * be read. Never throws.
 */
export function limitOfDispatch({ channels, log }: LimitPorts): Limit {
  return async ({ dispatchId, wabaId, phoneNumberId, throughputPerSecond }) => {
    try {
      return limitPerSecondOf(await channels.findNumber(wabaId, phoneNumberId), throughputPerSecond);
    } catch (error) {
      log('dispatch.limit_not_read', { dispatchId, wabaId, error: errorName(error) });
      return undefined;
    }
  };
}

/** Returns the limit that applies where nothing is known of the platform's report. */
export function provisionedLimitOf({ throughputPerSecond }: Pick<DispatchHead, 'throughputPerSecond'>): number {
  return limitPerSecondOf(undefined, throughputPerSecond);
}

/** Returns the same limits, with the provisioned one in place of an unknown one. */
export function orProvisioned(limitOf: Limit): (head: DispatchHead) => Promise<number> {
  return async (head) => (await limitOf(head)) ?? provisionedLimitOf(head);
}

/** Limits change rarely, and the platform refuses a worker that exceeds a new one. */
const rememberedMs = 60_000;

/**
 * Returns the same, cached for a minute by a process that accepts many requests, and for longer while it cannot be read.
 */
export function rememberedLimitOfDispatch(ports: LimitPorts & { readonly nowMs: () => number }): Limit {
  const read = limitOfDispatch(ports);
  const remembered = new Map<string, { readonly limitPerSecond: number; readonly untilMs: number }>();
  return async (head) => {
    const known = remembered.get(head.phoneNumberId);
    if (known !== undefined && ports.nowMs() < known.untilMs) return known.limitPerSecond;
    const limitPerSecond = await read(head);
    if (limitPerSecond === undefined) return known?.limitPerSecond;
    remembered.set(head.phoneNumberId, { limitPerSecond, untilMs: ports.nowMs() + rememberedMs });
    return limitPerSecond;
  };
}
