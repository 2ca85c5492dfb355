import type { Directory } from '../../access/directory.ts';
import { documents, environmentVariable, optionalVariable } from '../../aws/deployed.ts';
import { fetchPublic } from '../../http/fetch-network.ts';
import { deployedPlatform, type Platform, type PlatformLimits } from '../../platform/deployed.ts';
import { deployedRedirects } from '../../redirects/deployed.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { pairFaults } from '../assignments/assignment-request.ts';
import { offeredRedirects } from '../authoring/button-redirects.ts';
import { platformMedia } from '../authoring/platform-media.ts';
import { templateManagement } from '../authoring/platform-template-management.ts';
import type { CreationPorts } from '../create/create-template.ts';
import { creationStore } from '../create/creation-store.ts';
import { platformTemplates } from '../model/platform-templates.ts';
import { deployedTemplates } from './templates.ts';

export function deployedCreation(directory: Directory, limits: PlatformLimits) {
  const faultsOf: CreationPorts['pairFaults'] = (template, pairs) => pairFaults(directory, template, pairs);
  return {
    ...authoringOn(deployedPlatform(limits)),
    creations: creationStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    pairFaults: faultsOf,
  };
}

export function deployedEditing(limits: PlatformLimits) {
  const platform = deployedPlatform(limits);
  return {
    ...authoringOn(platform),
    templates: deployedTemplates(),
    platformTemplates: platformTemplates(platform.call, platform.credentialOf),
  };
}

export function deployedDeletion(limits: PlatformLimits) {
  const { call, credentialOf } = deployedPlatform(limits);
  return {
    management: templateManagement(call, credentialOf),
    templates: deployedTemplates(),
    platformTemplates: platformTemplates(call, credentialOf),
    events: deployedEvents(),
  };
}

function authoringOn({ call, credentialOf }: Platform) {
  return {
    management: templateManagement(call, credentialOf),
    redirects: offeredRedirects(optionalVariable('REDIRECT_BASE_URL'), deployedRedirects()),
    fetchPublic,
    uploadMedia: platformMedia(call, credentialOf),
    events: deployedEvents(),
  };
}
