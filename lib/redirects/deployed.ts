import { documents, environmentVariable } from '../aws/deployed.ts';
import { type RedirectStore, redirectStore } from './redirect-store.ts';

export function deployedRedirects(): RedirectStore {
  return redirectStore(documents(), environmentVariable('REDIRECTS_TABLE'));
}
