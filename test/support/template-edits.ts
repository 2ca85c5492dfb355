import { beforeAll, beforeEach } from 'vitest';
import { templatesEdit } from '../../functions/templates-edit.ts';
import type { MediaPorts } from '../../lib/templates/authoring/header-media.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { type TemplateStore, templateStore } from '../../lib/templates/model/template-store.ts';
import { type CallOptions, call } from './calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from './directory.ts';
import { type RecordedPlatform, recordedPlatform } from './management.ts';
import { MemoryAudit } from './memory-audit.ts';
import { MemoryEvents } from './memory-events.ts';
import { nothingWaits } from './no-template-holds.ts';
import { freshTable, localDocumentClient } from './stores.ts';
import { makeTemplate } from './templates.ts';

export const editedAtMs = 1_800_000_000_000;
export const editedWaba = makeWaba();
export const changedBody = { type: 'BODY', text: 'Order {{1}} is on its way.', example: { body_text: [['7']] } };

const directory = memoryDirectory({ wabas: [editedWaba], channels: [makeChannel()] });
const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export interface EditOptions extends Partial<CallOptions> {
  readonly templates?: Pick<TemplateStore, 'stateOf' | 'refresh' | 'writeUpstream' | 'forgetSentCode'>;
  readonly events?: MemoryEvents;
}

/**
 * Makes the edit of templates over the real table, with platform and media in memory. Each test has a new platform, and
 * each edit a new audit; `media` has the steps of fetching and uploading.
 */
export function templateEdits() {
  const client = localDocumentClient();
  const media: string[] = [];
  let [table, count] = ['', 0];
  const world = { media, platform: recordedPlatform(), audit: new MemoryAudit() };
  beforeAll(async () => {
    table = await freshTable('templates');
  });
  beforeEach(() => {
    world.platform = recordedPlatform();
    media.length = 0;
  });
  const store = (using = client) => templateStore(using, table);

  /** Stores a template, by default a new one, as the platform has it. */
  async function stored(overrides: Parameters<typeof makeTemplate>[0] = {}) {
    count += 1;
    const template = makeTemplate({ name: `template_${count}`, id: `9${count}`, ...overrides });
    const { wabaId, clientIds } = editedWaba;
    await store().refresh({ wabaId, clientIds }, template, editedAtMs - 1_000);
    world.platform.found = template;
    const key = templateKey({ wabaId, ...template });
    return { template, key, id: documentId({ templateKey: key, clientId: 1001, sequence: 0 }) };
  }

  function edit(id: string, body: unknown, given: EditOptions = {}) {
    const { templates = store(), events = new MemoryEvents(), ...options } = given;
    world.audit = new MemoryAudit();
    const { management, platformTemplates } = world.platform as RecordedPlatform;
    const ports = { ...mediaPorts(media), management, platformTemplates, directory, templates, events };
    const page = templatesEdit({ ...ports, ...nothingWaits, audit: world.audit, nowMs: () => editedAtMs });
    const path = { did: '5491100000001', messageTemplateId: id };
    return call(page, { userId: 'u-1', clientId: 1001 }, { path, body: JSON.stringify(body), ...options });
  }

  const stateOf = (key: string) => store().stateOf(key, [1001, 1002]);
  return { world, store, stored, stateOf, edit };
}

function mediaPorts(media: string[]): MediaPorts {
  return {
    fetchPublic: async (url) => {
      media.push(`fetch ${url}`);
      return { bytes: url.endsWith('.txt') ? Buffer.from('text') : png };
    },
    uploadMedia: async (credential, { type, name }) => {
      media.push(`upload ${type} ${name} with ${credential}`);
      return `4::${name}`;
    },
  };
}
