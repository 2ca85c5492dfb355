import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { type ConfigChange, changedConfig, forgetsFailures, type SealedSecret, type WebhookConfig } from './config.ts';
import type { WebhookConfigs } from './config-store.ts';
import { resealed, type SealingKeySet, sealSecret } from './sealing.ts';
import { secretBytes, webhookSecret } from './secret.ts';

export interface ConfigurePorts {
  readonly configs: Pick<WebhookConfigs, 'findConfig' | 'replaceConfig' | 'forgetFailures'>;
  readonly sealingKeys: () => Promise<SealingKeySet>;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Starts a delivery run for a client's waiting events. */
  readonly wake: (clientId: number) => Promise<void>;
}

export interface Configured {
  readonly config: WebhookConfig;
  readonly secret?: string;
}

/** Each lost race is another call's success. */
const maxAttempts = 20;

/**
 * Creates or changes a client's configuration (D33), and wakes what waits for its receiver. A signing secret is made
 * for a new one or on `rotate`, and returned only after it is stored. Concurrent calls are serialized.
 */
export async function configure(
  { configs, sealingKeys, randomBytes, wake }: ConfigurePorts,
  change: ConfigChange,
  rotate: boolean,
): Promise<Configured> {
  const { clientId, nowMs } = change;
  const keys = await sealingKeys();
  const secret = webhookSecret(randomBytes(secretBytes));
  const newSecret = { sealed: await sealSecret(keys, clientId, secret), createdAtMs: nowMs };
  let before = await configs.findConfig(clientId);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const makesSecret = before === undefined || rotate;
    const config = await underFirstKey(keys, changedConfig(before, change, makesSecret ? newSecret : undefined));
    // Failures go before the write: if it fails, a receiver that is off or elsewhere has lost nothing.
    if (forgetsFailures(before, config)) await configs.forgetFailures(clientId);
    const inTheWay = await configs.replaceConfig(config);
    // The SDK retries a request whose reply was lost, so the configuration in the way may hold this call's secret.
    if (inTheWay === undefined || holds(inTheWay, newSecret)) {
      if (before !== undefined && config.active) await wakeBestEffort(wake, clientId);
      return makesSecret ? { config, secret } : { config };
    }
    before = inTheWay;
  }
  throw new Error('a webhook configuration stayed contended');
}

/**
 * The version that was stored ends the pause. Without the wake, that shows at the next event, or at the pause's end.
 */
async function wakeBestEffort(wake: ConfigurePorts['wake'], clientId: number): Promise<void> {
  try {
    await wake(clientId);
  } catch (error) {
    log('webhook.error', { clientId, error: errorName(error) });
  }
}

async function underFirstKey(keys: SealingKeySet, config: WebhookConfig): Promise<WebhookConfig> {
  const secrets = await Promise.all(config.secrets.map((secret) => resealed(keys, config.clientId, secret)));
  return { ...config, secrets };
}

function holds({ secrets }: WebhookConfig, { sealed }: SealedSecret): boolean {
  return secrets.some((secret) => secret.sealed === sealed);
}
