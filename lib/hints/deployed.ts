import { documents, environmentVariable, queues } from '../aws/deployed.ts';
import { backoff } from '../aws/pause.ts';
import { deployedChannelRefresh, deployedChannels } from '../channels/deployed.ts';
import type { Platform } from '../platform/deployed.ts';
import { deployedTemplates } from '../templates/deployed/templates.ts';
import { platformTemplates } from '../templates/model/platform-templates.ts';
import { deployedEvents } from '../webhooks/deployed.ts';
import type { CallAllowance } from './call-allowance.ts';
import { hintQueue } from './hint-queue.ts';
import { hintStore } from './hint-store.ts';
import type { Upstream } from './refresh-waba.ts';

/** Builds the worker's ports; every platform call is within its turn's allowance. */
export function deployedHints({ call, credentialOf }: Platform) {
  const upstream = (allowance: CallAllowance): Upstream => {
    const counted = allowance.within(call);
    return {
      platform: platformTemplates(counted, credentialOf),
      refreshChannels: deployedChannelRefresh({ call: counted, credentialOf }),
    };
  };
  return {
    upstream,
    templates: deployedTemplates(),
    channels: deployedChannels(),
    events: deployedEvents(),
    hints: hintStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    queue: hintQueue(queues(), environmentVariable('HINT_QUEUE_URL')),
    pause: backoff(1_000, 4_000),
  };
}
