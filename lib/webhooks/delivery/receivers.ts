import type { WebhookConfigs } from '../config/config-store.ts';
import type { OpenSecrets } from '../config/sealing.ts';
import { subscribedTypes } from '../event-subscription.ts';
import type { DeliverPorts } from './deliver-ports.ts';

/** Finds the clients' receivers by their configurations at the moment of the call. */
export function receiversIn(
  configs: Pick<WebhookConfigs, 'findConfig' | 'switchOff'>,
  openSecrets: OpenSecrets,
  nowMs: () => number,
): DeliverPorts['receivers'] {
  return {
    find: async (clientId) => {
      const config = await configs.findConfig(clientId);
      if (config?.active !== true) return undefined;
      const { url, version } = config;
      return { url, version, wanted: subscribedTypes(config), secrets: await openSecrets(config, nowMs()) };
    },
    switchOff: (clientId, version, reason) => configs.switchOff(clientId, version, reason, nowMs()),
  };
}
