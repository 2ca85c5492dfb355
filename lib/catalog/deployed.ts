import { deployedPlatform, type PlatformLimits } from '../platform/deployed.ts';
import type { CatalogPorts } from './list-products.ts';
import { linkedCatalogs, platformCatalogs } from './platform-catalogs.ts';
import { platformProducts } from './platform-products.ts';

export function deployedCatalog(limits: PlatformLimits): CatalogPorts {
  const { call, credentialOf } = deployedPlatform(limits);
  return {
    catalogIdOf: platformCatalogs(call, credentialOf, Date.now),
    productPageOf: platformProducts(call, credentialOf),
  };
}

export function deployedLinkedCatalogs(limits: PlatformLimits) {
  const { call, credentialOf } = deployedPlatform(limits);
  return linkedCatalogs(call, credentialOf);
}
