import type { ChannelStore } from '../../channels/channel-store.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { JobHead } from '../job.ts';
import { limitPerSecondOf } from '../pace/number-limit.ts';

interface LimitPorts {
  readonly channels: Pick<ChannelStore, 'findNumber'>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Messages a second that the number of a job may send (D43); as provisioned when the platform's word cannot be read. */
export function limitOfJob({ channels, log }: LimitPorts) {
  return async ({ jobId, wabaId, phoneNumberId, throughputPerSecond }: JobHead): Promise<number> => {
    try {
      return limitPerSecondOf(await channels.findNumber(wabaId, phoneNumberId), throughputPerSecond);
    } catch (error) {
      log('job.limit_not_read', { jobId, wabaId, error: nameOf(error) });
      return limitPerSecondOf(undefined, throughputPerSecond);
    }
  };
}
