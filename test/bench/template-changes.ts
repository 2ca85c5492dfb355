import { channelCampaignsAdd } from '../../functions/channel-campaigns-add.ts';
import { templatesCreate } from '../../functions/templates-create.ts';
import { templatesEdit } from '../../functions/templates-edit.ts';
import { templatesList } from '../../functions/templates-list.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { pairFaults } from '../../lib/templates/assignments/assignment-request.ts';
import { assignmentStore } from '../../lib/templates/assignments/assignment-store.ts';
import { creationStore } from '../../lib/templates/create/creation-store.ts';
import { rowStore } from '../../lib/templates/model/row-store.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { type CallOptions, call, type TestCaller } from '../support/calls.ts';
import { lagReads } from '../support/lagging-reads.ts';
import { recordedPlatform } from '../support/management.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { nothingWaits } from '../support/no-template-holds.ts';
import { meterRequests } from '../support/request-meter.ts';
import { report } from './figure.ts';
import {
  type BenchTables,
  benchTables,
  clientId,
  clientOf,
  directoryFile,
  type TemplateData,
  templateData,
  wabaId,
} from './template-tables.ts';

const rounds = 50;
const operator: TestCaller = { userId: 'operator', clientId, permissions: ['BSP_CN'] };
const { channel_id, did } = directoryFile.channels[0] ?? { channel_id: 0, did: '' };
const { campaign_id } = directoryFile.campaigns[0] ?? { campaign_id: 0 };
const pair = { channel_id, campaign_id };

type Change = 'create' | 'edit' | 'assign';

/**
 * Creates, edits and assigns in turns. Counts the DynamoDB requests beside the access check, and the pages read right
 * afterwards that do not show the change, with the longest lag of eventually consistent reads.
 */
export async function benchTemplateChanges(stack: RunningStack): Promise<void> {
  const data = templateData(1_000, 500);
  const service = serviceOn(stack, await benchTables(stack, 'changes', data));
  const requests: Record<Change, number> = { create: 0, edit: 0, assign: 0 };
  let stale = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const { change, make, shown } of changesOf(service, data, round)) {
      requests[change] = Math.max(requests[change], await make());
      if (!(await service.page(shown.name)).some((entry) => isShown(entry, shown))) stale += 1;
    }
  }
  for (const [change, value] of Object.entries(requests)) {
    report({ figure: `templates.${change}.dynamodb_requests`, value, limit: 4, unit: 'requests' });
  }
  report({ figure: 'templates.pages_before_a_change', value: stale, limit: 0, unit: 'pages' });
}

interface Shown {
  readonly name: string;
  readonly language: string;
  readonly text?: string;
  readonly assigned?: true;
}

interface MadeChange {
  readonly change: Change;
  /** Makes the change, and resolves to the number of DynamoDB requests. */
  readonly make: () => Promise<number>;
  readonly shown: Shown;
}

function changesOf(service: Service, { templates, assignments }: TemplateData, round: number): MadeChange[] {
  const name = `created_in_round_${round}`;
  const text = `What round ${round} has to say.`;
  const edited = templates.filter(({ category, status }) => category === 'UTILITY' && status === 'APPROVED')[round];
  const assigned = templates.filter(
    ({ status }, index) => status !== 'PENDING_DELETION' && (assignments[index] ?? []).length === 0,
  )[round];
  if (edited === undefined || assigned === undefined) throw new Error('there are too few templates');
  return [
    {
      change: 'create',
      make: () => service.create(name, text),
      shown: { name, language: 'en_US', text, assigned: true },
    },
    { change: 'edit', make: () => service.edit(edited, text), shown: { ...spellingOf(edited), text } },
    { change: 'assign', make: () => service.assign(assigned), shown: { ...spellingOf(assigned), assigned: true } },
  ];
}

function spellingOf({ name, language }: PlatformTemplate) {
  return { name, language };
}

interface Entry {
  readonly platform_template: PlatformTemplate;
  readonly channel_campaigns: readonly {
    readonly campaign_id: number;
    readonly channels: readonly { readonly channel_id: number }[];
  }[];
}

/** `text` implies a status, because a template is in review after it was created or edited. */
function isShown({ platform_template, channel_campaigns }: Entry, { language, text, assigned }: Shown): boolean {
  const { status, components } = platform_template;
  if (platform_template.language !== language) return false;
  const saysSo = text === undefined || (status === 'PENDING' && components[0]?.text === text);
  const group = channel_campaigns.find((each) => each.campaign_id === campaign_id);
  return saysSo && (assigned !== true || group?.channels.some((each) => each.channel_id === channel_id) === true);
}

type Service = ReturnType<typeof serviceOn>;

/** Builds the endpoints over the real stores and a platform in memory that agrees to everything. */
function serviceOn(stack: RunningStack, tables: BenchTables) {
  const client = clientOf(stack);
  lagReads(client);
  const meter = meterRequests(client);
  const tableName = tables.templates.tableName;
  const directory = directoryStore(client, tables.directory.tableName);
  const { findDid, listWabas } = directoryStore(tables.directory.documentClient, tables.directory.tableName);
  const platform = recordedPlatform();
  const ports = {
    // Another client makes the reads of the access check, so that they are not counted.
    directory: { ...directory, findDid, listWabas },
    templates: templateStore(client, tableName),
    creations: creationStore(client, tableName),
    rows: rowStore(client, tableName),
    assignments: assignmentStore(client, tableName),
    management: platform.management,
    platformTemplates: platform.platformTemplates,
    pairFaults: (...asked: [Parameters<typeof pairFaults>[1], Parameters<typeof pairFaults>[2]]) =>
      pairFaults(directory, ...asked),
    fetchPublic: unused,
    uploadMedia: unused,
    events: new MemoryEvents(),
    ...nothingWaits,
    audit: new MemoryAudit(),
    nowMs: Date.now,
  };
  const [list, create, edit] = [templatesList(ports), templatesCreate(ports), templatesEdit(ports)];
  const assign = channelCampaignsAdd(ports);
  const ask = async (endpoint: typeof list, options: CallOptions) => {
    meter.taken();
    const { status = 500, body } = await call(endpoint, operator, options);
    if (status > 201) throw new Error(`an endpoint answered ${status}: ${JSON.stringify(body)}`);
    return { body, requests: meter.taken().requests };
  };
  const change = async (endpoint: typeof list, path: Record<string, string>, body: object) =>
    (await ask(endpoint, { path, body: JSON.stringify(body) })).requests;
  const componentsOf = (text: string) => [{ type: 'BODY', text }];
  return {
    create: (name: string, text: string) => {
      platform.created = { id: name.replaceAll(/\D/g, '').padStart(9, '9'), status: 'PENDING', category: 'UTILITY' };
      const draft = { name, language: 'en_US', category: 'UTILITY', components: componentsOf(text) };
      return change(create, { did }, { ...draft, channel_campaigns: pair });
    },
    edit: (template: PlatformTemplate, text: string) => {
      platform.found = template;
      return change(edit, { did, messageTemplateId: idOf(template) }, { components: componentsOf(text) });
    },
    assign: (template: PlatformTemplate) =>
      change(assign, { messageTemplateId: idOf(template) }, { channel_campaigns: [pair] }),
    page: async (name: string) => {
      const query = { client_id: String(clientId), size: '100', name };
      return ((await ask(list, { query })).body as { readonly data: readonly Entry[] }).data;
    },
  };
}

function idOf(template: PlatformTemplate): string {
  return documentId({ templateKey: templateKey({ ...template, wabaId }), clientId, sequence: 0 });
}

function unused(): Promise<never> {
  return Promise.reject(new Error('no template of these has media'));
}
