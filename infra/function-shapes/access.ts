import { endpoint } from './endpoint.ts';
import type { FunctionShape } from './shape.ts';

export const accessFunctions: Readonly<Record<string, FunctionShape>> = {
  health: { ...endpoint, memoryMb: 128 },
  // The gateway waits 10 s for an authorizer, and every request without a cached answer waits with it.
  authorizer: {
    timeoutSeconds: 5,
    memoryMb: 512,
    // Requests are authorized however much work the queues hold.
    reservedConcurrency: 'authorizerReservedConcurrency',
    canary: true,
    secrets: ['TOKEN_VERIFICATION_KEYS_SECRET'],
    settings: ['TOKEN_ISSUER', 'TOKEN_AUDIENCE'],
  },
  login: {
    ...endpoint,
    memoryMb: 1024,
    // Each login costs two hashes; a flood takes this share, and none from endpoints or workers.
    reservedConcurrency: 'loginReservedConcurrency',
    tables: { credentials: ['GetItem', 'UpdateItem', 'DeleteItem'], directory: ['GetItem'], audit: ['PutItem'] },
    secrets: ['TOKEN_SIGNING_KEYS_SECRET'],
    settings: ['TOKEN_ISSUER', 'TOKEN_AUDIENCE'],
  },
};
