import { documents, environmentVariable, queues } from '../../aws/deployed.ts';
import { sleep, storePause } from '../../aws/pause.ts';
import { platformCatalogs } from '../../catalog/platform-catalogs.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedPlatform, type PlatformLimits } from '../../platform/deployed.ts';
import { currentRates } from '../../pricing/current-rates.ts';
import { deployedRates } from '../../pricing/deployed.ts';
import { shippedRates } from '../../pricing/rates.ts';
import { deployedTemplates } from '../../templates/deployed/templates.ts';
import { platformTemplates } from '../../templates/model/platform-templates.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { idempotencyStore } from '../accept/idempotency-store.ts';
import { messageQueue } from '../accept/message-queue.ts';
import { budgetsStore } from '../budget/budgets-store.ts';
import { notifiedThresholdsStore } from '../budget/notified-thresholds-store.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { limitOfDispatch, orProvisioned, rememberedLimitOfDispatch } from '../pace/limit-of-dispatch.ts';
import { waitingDispatchesStore } from '../rehearse/waiting-dispatches-store.ts';
import { lookupStore } from '../resolve/lookup-store.ts';
import { marketingOnboarding } from '../resolve/platform-onboarding.ts';
import { type FindSendable, sendableStore } from '../resolve/sendable-store.ts';
import { wakeForAccepted } from '../sender/wake-accepted.ts';
import { deployedTemplateHolds } from './account-updates.ts';
import { messagesTable } from './messages-table.ts';
import { deployedReplacedIdReader } from './replaced-ids.ts';
import { deployedDispatches } from './reports.ts';
import { deployedAcceptedDispatches, deployedKnownPaces, deployedSenderWakes } from './sending.ts';

export function deployedAcceptance(limits: PlatformLimits) {
  const { call, credentialOf } = deployedPlatform(limits);
  const table = messagesTable();
  const limitOf = rememberedLimitOfDispatch({ channels: deployedChannels(), log, nowMs: Date.now });
  const wake = deployedSenderWakes();
  return {
    templates: deployedTemplates(),
    ...deployedTemplateHolds(),
    platformTemplates: platformTemplates(call, credentialOf),
    catalogIdOf: platformCatalogs(call, credentialOf, Date.now),
    isOnboarded: marketingOnboarding(call, credentialOf, Date.now),
    questions: lookupStore(table),
    acceptance: deployedAcceptedDispatches(),
    records: idempotencyStore(table),
    replacementsOf: deployedReplacedIdReader(),
    wake: (head: DispatchHead, signal: AbortSignal) =>
      wakeForAccepted(head, { limitOf, wake, nowMs: Date.now }, signal),
    urgentQueue: messageQueue(queues(), environmentVariable('URGENT_QUEUE_URL')),
    limitOf: orProvisioned(limitOf),
    currentLimitOf: orProvisioned(limitOfDispatch({ channels: deployedChannels(), log })),
    paces: deployedKnownPaces(),
    waiting: waitingDispatchesStore(table),
    channels: deployedChannels(),
    dispatches: deployedDispatches(),
    optOuts: deployedOptOutLook(),
    rates: currentRates(deployedRates().find, shippedRates, Date.now),
    budgets: budgetsStore(table),
    notified: notifiedThresholdsStore(table),
    events: deployedEvents(),
    pause: sleep,
  };
}

export function deployedSendable(): FindSendable {
  const names = {
    directory: environmentVariable('DIRECTORY_TABLE'),
    templates: environmentVariable('TEMPLATES_TABLE'),
  };
  return sendableStore({ client: documents(), pause: storePause }, names);
}
