export { clientEndpoint } from './client-endpoint.ts';
export { DidSchema } from './did.ts';
export { type Directory, isUsableDid, usableDid } from './directory.ts';
export {
  ClientIdJson,
  ClientIdText,
  type Clients,
  clientIdAdvice,
  operatingClient,
  requestedClientId as askedClientId,
} from './operating-client.ts';
export { operatingDid } from './operating-did.ts';
