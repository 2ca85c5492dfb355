import { type ConfigChange, changedConfig, type SealedSecret, startsAfresh, type WebhookConfig } from './config.ts';
import type { WebhookConfigs } from './config-store.ts';
import { resealed, type SealingKeySet, sealSecret } from './sealing.ts';
import { secretBytes, webhookSecret } from './secret.ts';

export interface ConfigurePorts {
  readonly configs: Pick<WebhookConfigs, 'findConfig' | 'replaceConfig' | 'forgetFailures'>;
  readonly sealingKeys: () => Promise<SealingKeySet>;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The configuration as it was written, and its new signing secret if this call made one. */
export interface Configured {
  readonly config: WebhookConfig;
  readonly secret?: string;
}

/** Whoever loses a race has seen another call win. */
const maxAttempts = 20;

/**
 * Creates or changes a client's configuration (D33). Makes a signing secret for a new configuration, or when `rotate` asks
 * for one; a secret is returned only after it was stored. Calls at the same time take effect one after another: of two
 * that create, one makes the secret and the other finds the configuration there.
 */
export async function configure(
  { configs, sealingKeys, randomBytes }: ConfigurePorts,
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
    // Before the write: should it fail, a configuration that is still off or elsewhere has lost nothing.
    if (startsAfresh(before, config)) await configs.forgetFailures(clientId);
    const inTheWay = await configs.replaceConfig(config);
    // The SDK repeats a request whose reply was lost: what is in the way may hold the secret of this very call.
    if (inTheWay === undefined || holds(inTheWay, newSecret)) return makesSecret ? { config, secret } : { config };
    before = inTheWay;
  }
  throw new Error('a webhook configuration stayed contended');
}

async function underFirstKey(keys: SealingKeySet, config: WebhookConfig): Promise<WebhookConfig> {
  const secrets = await Promise.all(config.secrets.map((secret) => resealed(keys, config.clientId, secret)));
  return { ...config, secrets };
}

function holds({ secrets }: WebhookConfig, { sealed }: SealedSecret): boolean {
  return secrets.some((secret) => secret.sealed === sealed);
}
