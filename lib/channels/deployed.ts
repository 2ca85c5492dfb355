import { documents, environmentVariable } from '../aws/deployed.ts';
import type { Platform } from '../platform/deployed.ts';
import { type ChannelStore, channelStore } from './channel-store.ts';
import { platformNumbers } from './platform-numbers.ts';
import { channelRefresh } from './refresh.ts';

export function deployedChannels(): ChannelStore {
  return channelStore(documents(), environmentVariable('CHANNELS_TABLE'));
}

export function deployedChannelRefresh({ call, credentialOf }: Platform) {
  return channelRefresh({
    channels: deployedChannels(),
    numbers: platformNumbers(call, credentialOf),
    nowMs: Date.now,
  });
}
