import { endpoint } from './endpoint.ts';
import type { FunctionShape } from './shape.ts';

/** What is asked before any page: whether the service is up, who somebody is. */
export const accessFunctions: Readonly<Record<string, FunctionShape>> = {
  health: { ...endpoint, memoryMb: 128 },
  // The gateway waits 10 s for an authorizer; every request without a cached answer waits with it.
  authorizer: {
    timeoutSeconds: 5,
    memoryMb: 512,
    // However much work the queues hold, requests get in.
    reservedConcurrency: 'authorizerReservedConcurrency',
    canary: true,
    secrets: ['TOKEN_VERIFICATION_KEYS_SECRET'],
    settings: ['TOKEN_ISSUER', 'TOKEN_AUDIENCE'],
  },
  login: {
    ...endpoint,
    memoryMb: 1024,
    // A flood of logins, each of which costs two hashes, takes this much and no endpoint's or worker's share.
    reservedConcurrency: 'loginReservedConcurrency',
    tables: { credentials: ['GetItem', 'UpdateItem', 'DeleteItem'], directory: ['GetItem'], audit: ['PutItem'] },
    secrets: ['TOKEN_SIGNING_KEYS_SECRET'],
    settings: ['TOKEN_ISSUER', 'TOKEN_AUDIENCE'],
  },
};
