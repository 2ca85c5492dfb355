import type { Did } from '../../../../lib/access/directory.ts';
import type { CheckPorts, Send } from '../../../../lib/messages/accept/check-send.ts';
import type { Replacement } from '../../../../lib/messages/inbound/replaced-ids.ts';
import type { SendRequest } from '../../../../lib/messages/request/send-request.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { ClientTemplate, PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { makeChannel, memoryDirectory } from '../../../support/directory.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryLookups } from '../../../support/memory-lookups.ts';
import { noTemplateHolds } from '../../../support/no-template-holds.ts';

export const nowMs = 1_700_000_000_000;
export const to = '5491155550001';

export const did: Did = {
  channel: {
    ...{ channelId: 501, did: '5491100000001', clientId: 1001, wabaId: '2', phoneNumberId: '3', name: '' },
    throughputPerSecond: 80,
  },
  waba: { wabaId: '2', name: '', namespace: 'ns', credential: 'main', clientIds: [1001, 1002], dids: 'waba' },
};

export function sendOf(request: Partial<SendRequest> = {}, more: Partial<Send> = {}): Send {
  const template = { name: 'order_update', language: 'en_US' };
  const whole = { did: did.channel.did, template, recipients: [{ to }], ...request };
  const caller = { clientId: 1001, userId: 'supervisor', crossClient: false };
  return { request: whole, caller, clientId: 1001, did, dispatchId: 'J', ...more };
}

interface Asked {
  readonly catalogs?: readonly (string | undefined | PlatformFailure)[];
  readonly onboarded?: boolean;
  readonly client?: Partial<ClientTemplate>;
  readonly replaced?: ReadonlyMap<string, Replacement>;
}

const makeUser = (userId: string, ...campaignIds: number[]) => {
  return { clientId: 1001, userId, username: userId, permissions: [], campaignIds };
};

const directory = memoryDirectory({
  channels: [makeChannel()],
  campaigns: [
    { campaignId: 10, clientId: 1001, name: 'Onboarding' },
    { campaignId: 11, clientId: 1001, name: 'Collections' },
  ],
  users: [makeUser('supervisor', 10, 11), makeUser('onboarding', 10), makeUser('agent')],
});

/** Makes ports with one template that was stored a moment ago; they record what is read beside it. */
export function portsOf(template: PlatformTemplate, known: Asked = {}) {
  const asked: string[] = [];
  const questions = new MemoryLookups();
  const ports: CheckPorts = {
    ...{ events: new MemoryEvents(), questions, directory },
    pause: async () => undefined,
    nowMs: () => nowMs,
    templates: templatesOf(template, known.client),
    templateHolds: noTemplateHolds,
    platformTemplates: { lookUp: async () => ({ found: template, sameName: [] }) },
    catalogIdOf: catalogsOf(known.catalogs ?? [], asked),
    replacementsOf: async (wabaId, userIds) => {
      asked.push(`replacements in ${wabaId}`);
      return new Map([...(known.replaced ?? [])].filter(([userId]) => userIds.includes(userId)));
    },
    isOnboarded: async ({ wabaId }) => {
      asked.push(`onboarding of ${wabaId}`);
      return known.onboarded ?? false;
    },
  };
  return { ports, asked, questions };
}

function templatesOf(template: PlatformTemplate, client: Asked['client']): CheckPorts['templates'] {
  const fact = { wabaId: '2', template, deleted: false, readAtMs: nowMs, sinceMs: 1 };
  const own = { clientId: 1001, active: true, documents: [], ...client };
  return {
    find: async () => (client === undefined ? { fact } : { fact, client: own }),
    refresh: async () => undefined,
    writeUpstream: async () => new Set(),
    stateOf: async () => ({ rows: [] }),
  };
}

/** Each read of the WABA's catalog returns the next of the list, and then the last one again. */
function catalogsOf(catalogs: NonNullable<Asked['catalogs']>, asked: string[]): CheckPorts['catalogIdOf'] {
  const left = [...catalogs];
  return async ({ wabaId }, read) => {
    asked.push(`catalog of ${wabaId}${read?.fresh ? ', fresh' : ''}`);
    const catalog = left.length > 1 ? left.shift() : left[0];
    if (catalog instanceof PlatformFailure) throw catalog;
    return catalog;
  };
}
