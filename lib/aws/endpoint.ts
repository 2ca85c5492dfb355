import { optionalVariable } from './environment.ts';

/**
 * Returns a service's endpoint as AWS's SDKs find it: `AWS_ENDPOINT_URL_<SERVICE>`, else `AWS_ENDPOINT_URL`. Undefined
 * means the region's, also if `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` is `true`. SDK clients do this themselves.
 */
export function configuredEndpoint(variable: string): string | undefined {
  if (optionalVariable('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS') === 'true') return undefined;
  return optionalVariable(variable) ?? optionalVariable('AWS_ENDPOINT_URL');
}
