import { optionalVariable } from './environment.ts';

/**
 * The address that the environment gives a service of AWS, as AWS's SDKs find it: that of the variable, which is the
 * service's own (`AWS_ENDPOINT_URL_<SERVICE>`), else that of all services (`AWS_ENDPOINT_URL`). Undefined where there is
 * none, or `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` is `true`: then it is the region's. Clients of the SDK do so themselves.
 */
export function configuredEndpoint(variable: string): string | undefined {
  if (optionalVariable('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS') === 'true') return undefined;
  return optionalVariable(variable) ?? optionalVariable('AWS_ENDPOINT_URL');
}
