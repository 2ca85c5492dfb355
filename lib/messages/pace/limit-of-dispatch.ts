import type { ChannelStore } from '../../channels/channel-store.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { limitPerSecondOf } from './number-limit.ts';

interface LimitPorts {
  readonly channels: Pick<ChannelStore, 'findNumber'>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Returns messages a second that a dispatch's number may send (D43). The provisioned limit applies when the platform's
 * report cannot be read.
 */
export function limitOfDispatch({ channels, log }: LimitPorts) {
  return async ({ dispatchId, wabaId, phoneNumberId, throughputPerSecond }: DispatchHead): Promise<number> => {
    try {
      return limitPerSecondOf(await channels.findNumber(wabaId, phoneNumberId), throughputPerSecond);
    } catch (error) {
      log('dispatch.limit_not_read', { dispatchId, wabaId, error: errorName(error) });
      return limitPerSecondOf(undefined, throughputPerSecond);
    }
  };
}

/** Limits change rarely, and the platform refuses a worker that exceeds a new one. */
const rememberedMs = 60_000;

/** Returns the same, cached for a minute by a process that accepts many requests. */
export function rememberedLimitOfDispatch(ports: LimitPorts & { readonly nowMs: () => number }) {
  const read = limitOfDispatch(ports);
  const remembered = new Map<string, { readonly limitPerSecond: number; readonly untilMs: number }>();
  return async (head: DispatchHead): Promise<number> => {
    const known = remembered.get(head.phoneNumberId);
    if (known !== undefined && ports.nowMs() < known.untilMs) return known.limitPerSecond;
    const limitPerSecond = await read(head);
    remembered.set(head.phoneNumberId, { limitPerSecond, untilMs: ports.nowMs() + rememberedMs });
    return limitPerSecond;
  };
}
