import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import type { WabaAccess } from '../platform/waba-access.ts';
import type { ListedChannel, LiveValues, PlatformNumber } from './channel.ts';
import { changedLive } from './channel-item.ts';
import type { ChannelStore } from './channel-store.ts';
import { degradationsBetween } from './degradation.ts';
import type { PlatformNumbers } from './platform-numbers.ts';

export interface RefreshPorts {
  readonly channels: Pick<ChannelStore, 'numbersOf' | 'find' | 'writeLive'>;
  readonly numbers: PlatformNumbers;
  readonly nowMs: () => number;
}

/**
 * Updates a WABA's channels, of all clients, from the platform; returns the number of changes. `mayGoOn` is asked
 * before each page. Takes 1 query, and 1 call and 1 read a page, 1 write a change. Rejects with `PlatformFailure`.
 */
export type RefreshChannels = (waba: WabaAccess, mayGoOn: () => Promise<boolean>) => Promise<number>;

const writesAtOnce = 10;

export function channelRefresh(ports: RefreshPorts): RefreshChannels {
  return async (waba, mayGoOn) => {
    const known = new Map((await ports.channels.numbersOf(waba.wabaId)).map((each) => [each.phoneNumberId, each]));
    if (known.size === 0) return 0;
    let refreshed = 0;
    let after: string | undefined;
    do {
      if (!(await mayGoOn())) break;
      const readAtMs = ports.nowMs();
      const page = await ports.numbers.page(waba, after);
      const provisioned = page.numbers.flatMap(({ phoneNumberId }) => known.get(phoneNumberId) ?? []);
      const channels = await ports.channels.find(provisioned);
      const changes = changesOf(waba.wabaId, channels, page.numbers);
      for (let start = 0; start < changes.length; start += writesAtOnce) {
        const some = changes.slice(start, start + writesAtOnce);
        const written = await Promise.all(
          some.map(async ({ channel, live }) => {
            const isWritten = await ports.channels.writeLive(channel, live, readAtMs);
            if (isWritten) reportFallen(channel, live);
            return isWritten;
          }),
        );
        refreshed += written.filter(Boolean).length;
      }
      after = page.after;
    } while (after !== undefined);
    return refreshed;
  };
}

/** Reports once, because the next reading compares with this write. */
function reportFallen(channel: ListedChannel, live: LiveValues): void {
  const { wabaId, clientId, phoneNumberId } = channel;
  const fallen = degradationsBetween(channel, live);
  for (const code of fallen) log('number.fallen', { wabaId, clientId, scope: `number:${phoneNumberId}`, code });
  if (fallen.length > 0) count('NumbersFallen');
}

function changesOf(
  wabaId: string,
  channels: readonly ListedChannel[],
  numbers: readonly PlatformNumber[],
): { readonly channel: ListedChannel; readonly live: LiveValues }[] {
  const reportedById = new Map(numbers.map(({ phoneNumberId, live }) => [phoneNumberId, live]));
  return channels.flatMap((channel) => {
    const reported =
      channel.wabaId === wabaId && !channel.deleted ? reportedById.get(channel.phoneNumberId) : undefined;
    const live = reported === undefined ? undefined : changedLive(channel, reported);
    return live === undefined ? [] : [{ channel, live }];
  });
}
