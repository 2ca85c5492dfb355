import type { Directory } from '../access/directory.ts';
import { documents, environmentVariable, optionalVariable, queues } from '../aws/deployed.ts';
import { backoff } from '../aws/pause.ts';
import { deployedChannelRefresh } from '../channels/deployed.ts';
import { fetchPublic } from '../http/fetch-network.ts';
import { deployedPlatform, type Platform, type PlatformLimits } from '../platform/deployed.ts';
import { deployedRedirects } from '../redirects/deployed.ts';
import { deployedEvents } from '../webhooks/deployed.ts';
import { pairFaults } from './assignments/assignment-request.ts';
import { assignmentStore } from './assignments/assignment-store.ts';
import { offeredRedirects } from './authoring/button-redirects.ts';
import { keepingRedirects } from './authoring/kept-redirects.ts';
import { platformMedia } from './authoring/platform-media.ts';
import { templateManagement } from './authoring/platform-template-management.ts';
import type { CreationPorts } from './create/create-template.ts';
import { creationStore } from './create/creation-store.ts';
import { platformTemplates } from './model/platform-templates.ts';
import { type RowStore, rowStore } from './model/row-store.ts';
import { type TemplateStore, templateStore } from './model/template-store.ts';
import { statusStore } from './status/status-store.ts';
import { syncLockScope } from './sync/sync-lock.ts';
import { syncLockStore } from './sync/sync-lock-store.ts';
import { syncQueue } from './sync/sync-queue.ts';
import { syncWalkStore } from './sync/sync-walk-store.ts';

export function deployedRows(): RowStore {
  return rowStore(documents(), environmentVariable('TEMPLATES_TABLE'));
}

/** Rows, for who reads and changes their assignments. */
export function deployedAssignments() {
  return {
    rows: deployedRows(),
    assignments: assignmentStore(documents(), environmentVariable('TEMPLATES_TABLE')),
  };
}

/** Rows, for who reads and changes whether they are active. */
export function deployedStatus() {
  return {
    rows: deployedRows(),
    status: statusStore(documents(), environmentVariable('TEMPLATES_TABLE')),
  };
}

/** The templates for who only reads them. */
export function deployedListing(): TemplateStore {
  return templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
}

/** The templates for who takes over what the platform says: redirects that a template then shows are made permanent. */
export function deployedTemplates(): TemplateStore {
  return keepingRedirects(templateStore(documents(), environmentVariable('TEMPLATES_TABLE')), deployedRedirects());
}

/** What creating a template takes, with the channels and campaigns to assign it to. */
export function deployedCreation(directory: Directory, limits: PlatformLimits) {
  const faultsOf: CreationPorts['pairFaults'] = (template, pairs) => pairFaults(directory, template, pairs);
  return {
    ...authoringOn(deployedPlatform(limits)),
    creations: creationStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    pairFaults: faultsOf,
  };
}

/** What editing a template takes. */
export function deployedEditing(limits: PlatformLimits) {
  const platform = deployedPlatform(limits);
  return {
    ...authoringOn(platform),
    templates: deployedTemplates(),
    platformTemplates: platformTemplates(platform.call, platform.credentialOf),
  };
}

/** What deleting a template takes. */
export function deployedDeletion(limits: PlatformLimits) {
  const { call, credentialOf } = deployedPlatform(limits);
  return {
    management: templateManagement(call, credentialOf),
    templates: deployedTemplates(),
    platformTemplates: platformTemplates(call, credentialOf),
    events: deployedEvents(),
  };
}

/** What writing a template's components takes: their media, and redirects where a base URL is set. */
function authoringOn({ call, credentialOf }: Platform) {
  return {
    management: templateManagement(call, credentialOf),
    redirects: offeredRedirects(optionalVariable('REDIRECT_BASE_URL'), deployedRedirects()),
    fetchPublic,
    uploadMedia: platformMedia(call, credentialOf),
    events: deployedEvents(),
  };
}

/** What a synchronization takes to begin: the platform, the locks and the queue. */
export function deployedSync({ call, credentialOf }: Platform) {
  return {
    platform: platformTemplates(call, credentialOf),
    locks: syncLockStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    lockScope: syncLockScope(environmentVariable('SYNC_LOCK_SCOPE')),
    queue: syncQueue(queues(), environmentVariable('SYNC_QUEUE_URL')),
  };
}

/** What carrying one out takes besides, and the walk that begins them. */
export function deployedSyncWork(platform: Platform) {
  return {
    ...deployedSync(platform),
    refreshChannels: deployedChannelRefresh(platform),
    templates: deployedTemplates(),
    walks: syncWalkStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    events: deployedEvents(),
    pause: backoff(1_000, 4_000),
  };
}
