import { environmentVariable, secretText } from '../aws/deployed.ts';
import { type CredentialOf, platformCredentials } from './credentials.ts';
import { type PlatformTransport, platformTransport, type TransportOptions } from './transport.ts';

export interface Platform {
  readonly call: PlatformTransport;
  readonly credentialOf: CredentialOf;
}

export type PlatformLimits = Pick<TransportOptions, 'timeoutMs' | 'maxReplyBytes'>;

/** Builds the platform of this deployment. A call takes `timeoutMs` at most. */
export function deployedPlatform(limits: PlatformLimits): Platform {
  const baseUrl = environmentVariable('PLATFORM_BASE_URL');
  const version = environmentVariable('PLATFORM_VERSION');
  return {
    call: platformTransport({ ...limits, baseUrl, version }),
    credentialOf: platformCredentials(secretText('PLATFORM_CREDENTIALS_SECRET'), Date.now),
  };
}
