import type { messagesSend } from '../../functions/messages-send.ts';
import { authorizerContext } from '../../lib/access/authorizer-context.ts';
import type { Did } from '../../lib/access/directory.ts';
import type { Answer } from '../../lib/http/answer.ts';
import type { HttpEvent } from '../../lib/http/endpoint.ts';
import { unknownPace } from '../../lib/messages/pace/known-pace.ts';
import { shippedRates } from '../../lib/pricing/rates.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { memoryChannels } from './channels.ts';
import { MemoryEvents } from './memory-events.ts';
import { noTemplateHolds } from './no-template-holds.ts';

const did = '5491100000001';
const waba = {
  wabaId: '200000000000001',
  name: '',
  namespace: 'ns',
  credential: 'main',
  clientIds: [1001],
  dids: 'waba',
} as const;
const channel = { channelId: 501, clientId: 1001, wabaId: waba.wabaId, did, name: '', throughputPerSecond: 80 };
const unused = () => Promise.reject(new Error('not part of a send'));

/** Requests send from this number. */
export const sendableDid: Did = { waba, channel: { ...channel, phoneNumberId: '300000000000001' } };

/** Makes a request to send, as the gateway passes it on. */
export function sendEvent(body: object, key?: string): HttpEvent {
  const lambda = authorizerContext({ userId: 'u', clientId: 1001, permissions: [], expiresAtSeconds: 9_999_999_999 });
  const event = {
    routeKey: 'POST /v1/template/messages/{did}',
    pathParameters: { did },
    headers: key === undefined ? {} : { 'idempotency-key': key },
    body: JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: 'r', authorizer: { lambda } },
  };
  return event as unknown as HttpEvent;
}

export interface SendAnswer {
  readonly status: number;
  readonly code?: string;
  readonly dispatchId?: string;
}

export function answeredOf({ statusCode, headers = {}, body = '' }: Answer): SendAnswer {
  const dispatchId = headers['dispatch-id'];
  const { code } = JSON.parse(body) as { readonly code?: string };
  return {
    status: Number(statusCode),
    code,
    ...(dispatchId === undefined ? {} : { dispatchId: String(dispatchId) }),
  };
}

/**
 * Makes the ports of the page before it accepts: answered at once, with a template whose stored copy is an hour old.
 */
export function sendPorts(
  template: PlatformTemplate,
  nowMs: () => number,
): Omit<Parameters<typeof messagesSend>[0], 'newDispatchId' | 'wake' | 'urgentQueue' | 'acceptance' | 'records'> {
  const fact = { wabaId: waba.wabaId, template, deleted: false, readAtMs: nowMs() - 3_600_000, sinceMs: 1 };
  const client = { clientId: 1001, active: true, documents: [{ id: 'd1' }] };
  return {
    directory: {
      hasClient: unused,
      zoneOfClient: unused,
      findDid: unused,
      findUser: unused,
      findClient: unused,
      listClientIds: unused,
      listClients: unused,
      listWabas: unused,
      listCampaigns: unused,
      listChannels: unused,
      findChannels: unused,
    },
    findSendable: async () => ({ did: sendableDid }),
    templates: {
      find: async () => ({ fact, client }),
      refresh: async () => undefined,
      writeUpstream: unused,
      stateOf: unused,
    },
    templateHolds: noTemplateHolds,
    platformTemplates: { lookUp: async () => ({ found: template, sameName: [] }) },
    replacementsOf: unused,
    catalogIdOf: unused,
    isOnboarded: unused,
    questions: {
      claim: async () => ({ state: 'ours' }),
      keep: unused,
      release: async () => undefined,
      takeTurn: unused,
    },
    limitOf: async () => 80,
    currentLimitOf: async () => 80,
    paces: { find: async () => unknownPace },
    waiting: { of: async () => [] },
    channels: memoryChannels([]),
    dispatches: { listAccepted: unused },
    optOuts: { anyFor: unused, stoppedAmong: unused },
    rates: async () => shippedRates,
    budgets: { reserve: unused, release: async () => undefined, committedUnits: unused },
    notified: { of: unused, note: unused },
    events: new MemoryEvents(),
    pause: async () => undefined,
    nowMs,
  };
}
