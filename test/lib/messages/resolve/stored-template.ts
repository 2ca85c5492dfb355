import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import type { ResolutionPorts } from '../../../../lib/messages/resolve/resolve-template.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformTemplate, TemplateForSending } from '../../../../lib/templates/model/template.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryLookups } from '../../../support/memory-lookups.ts';
import { noTemplateHolds } from '../../../support/no-template-holds.ts';
import { sendable } from '../../../support/platform-templates.ts';
import { makeRow } from '../../../support/templates.ts';

export const nowMs = 1_700_000_000_000;
export const minute = 60_000;
export const waba = { wabaId: '2', credential: 'main', clientIds: [1001, 1002] };
export const wanted = { clientId: 1001, askerId: 'J1', waba, name: 'order_update', language: 'en_US' };
export const renewed = { ...sendable.order, category: 'MARKETING' };
export const contract = parameterContract(sendable.order);
export const paused = { ...sendable.order, status: 'PAUSED' };

export function stored(
  ageMs: number,
  deleted = false,
  template: PlatformTemplate = sendable.order,
): TemplateForSending {
  return { fact: { wabaId: '2', template, deleted, readAtMs: nowMs - ageMs, sinceMs: 1 } };
}

/** Makes ports with one stored template and one platform answer; `refreshed` records what is stored. */
export function setup(found: TemplateForSending | undefined, platform: PlatformTemplate | PlatformFailure | undefined) {
  const refreshed: unknown[] = [];
  const asked: unknown[] = [];
  const events = new MemoryEvents();
  const questions = new MemoryLookups();
  const ports: ResolutionPorts = {
    ...{ events, questions },
    pause: async () => undefined,
    nowMs: () => nowMs,
    templates: templatesOf(found, refreshed),
    templateHolds: noTemplateHolds,
    platformTemplates: {
      lookUp: async (...call) => {
        asked.push(call);
        if (platform instanceof PlatformFailure) throw platform;
        return platform === undefined ? { sameName: [] } : { found: platform, sameName: [] };
      },
    },
  };
  return { ports, refreshed, asked, events, questions };
}

function templatesOf(found: TemplateForSending | undefined, refreshed: unknown[]): ResolutionPorts['templates'] {
  return {
    find: async () => found,
    refresh: async (...call) => void refreshed.push(call),
    writeUpstream: async ([write]) => {
      refreshed.push(write);
      return new Set();
    },
    stateOf: async () => ({ rows: [makeRow({ wabaId: '2' }), makeRow({ wabaId: '2', clientId: 1002 })] }),
  };
}

export const key = templateKey({ wabaId: '2', name: 'order_update', language: 'en_US' });
export const unreachable = new PlatformFailure('not_sent');
export const throttled = new PlatformFailure('refused', { httpStatus: 400, code: 4 });
