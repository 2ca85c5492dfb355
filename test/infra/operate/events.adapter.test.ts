import { describe, expect, test } from 'vitest';
import { WouldChange } from '../../../infra/operate/command.ts';
import { eventsListCommand, eventsReplayCommand } from '../../../infra/operate/send/events.ts';
import type { WebhookConfig } from '../../../lib/webhooks/config/config.ts';
import { eventId, type ServiceEvent } from '../../../lib/webhooks/event.ts';
import { eventRecordStore } from '../../../lib/webhooks/event-record-store.ts';
import { makeEvent } from '../../support/delivery-world.ts';
import { queuedEvents } from '../../support/events.ts';
import { operatorAuditInMemory, silent } from '../../support/operator-audit.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const records = eventRecordStore(localDocumentClient(), await freshTable('webhooks'));
const { sink, arrived } = await queuedEvents();
const nowMs = Date.parse('2026-10-02T00:00:00Z');

function happened(time: string, type: 'template.created' | 'template.deleted', clientId = 1001): ServiceEvent {
  const event = makeEvent(clientId);
  return { ...event, type, id: eventId(type, clientId, [time]), timestampMs: Date.parse(time) };
}

const created = happened('2026-10-01T10:00:00Z', 'template.created');
const deleted = happened('2026-10-01T11:00:00Z', 'template.deleted');
const future = happened('2026-10-02T00:00:00.001Z', 'template.created');
const theirs = happened('2026-10-01T10:30:00Z', 'template.created', 1002);
const twice = { ...created, timestampMs: created.timestampMs + 5 };
for (const event of [created, twice, deleted, future, theirs]) await records.record(event);

const on: WebhookConfig = {
  clientId: 1001,
  url: 'https://a.example.com',
  active: true,
  secrets: [],
  version: 1,
  updatedAtMs: 0,
};
let config: WebhookConfig | undefined = on;
const audited = operatorAuditInMemory();

const commands = { list: eventsListCommand, replay: eventsReplayCommand };

/** A dry run may have ended with it. */
let ended: WouldChange | undefined;

async function run(name: keyof typeof commands, ...typed: string[]): Promise<string[]> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const configs = { findConfig: async () => config };
  const open = () => ({ records, configs, queue: async () => sink, audit: audited.audit });
  ended = undefined;
  await commands[name](typed, open, { print, tell: print, progress: silent, nowMs: () => nowMs }).catch(
    (error: unknown) => {
      if (!(error instanceof WouldChange)) throw error;
      ended = error;
    },
  );
  return lines;
}

const since = ['--client', '1001', '--since', '2026-10-01T00:00:00Z'];

describe('replay', () => {
  test('queues what was recorded, under the same ids, each once', async () => {
    expect(await run('replay', ...since)).toEqual([
      '1 template.created',
      '1 template.deleted',
      'total 2, on their way again',
    ]);
    expect(await arrived()).toEqual([created, deleted]);
    const line = { what: 'command.events_replay', on: { clientId: 1001 } };
    expect(audited.entries).toMatchObject(['begun', 'done'].map((outcome) => ({ ...line, outcome })));
  });

  test('of one kind', async () => {
    expect(await run('replay', ...since, '--type', 'template.deleted')).toEqual([
      '1 template.deleted',
      'total 1, on their way again',
    ]);
    expect(await arrived()).toEqual([deleted]);
  });

  test('of one id, wherever it stands; one that was not told sends nothing', async () => {
    expect(await run('replay', '--client', '1001', '--id', deleted.id)).toEqual([
      '1 template.deleted',
      'total 1, on their way again',
    ]);
    expect(await arrived()).toEqual([deleted]);
    const attempt = run('replay', '--client', '1001', '--id', deleted.id, '--id', theirs.id);
    await expect(attempt).rejects.toMatchObject({ exitStatus: 1, message: expect.stringContaining(theirs.id) });
    expect(await arrived()).toEqual([]);
  });

  test('up to a moment, which is included; zones are understood', async () => {
    await run('replay', ...since, '--until', '2026-10-01T12:00:00+02:00');
    expect(await arrived()).toEqual([created]);
  });

  test.each([
    ['no webhook', undefined],
    ['a webhook that is switched off', { ...on, active: false }],
  ])('with %s no client would be reached: status 1, and nothing is sent', async (_, found) => {
    config = found;
    const error = await run('replay', ...since).catch((reason: unknown) => reason);
    config = on;
    expect(error).toMatchObject({ exitStatus: 1, message: expect.stringContaining('client 1001 has no webhook') });
    expect(await arrived()).toEqual([]);
  });

  test('a kind without events replays nothing', async () => {
    expect(await run('replay', ...since, '--type', 'message.failed')).toEqual(['total 0']);
  });

  test('a dry run counts and sends nothing', async () => {
    audited.entries.length = 0;
    expect((await run('replay', ...since, '--dry-run')).at(-1)).toBe('total 2');
    expect(ended).toEqual(new WouldChange('dry run: nothing was sent'));
    const [text = ''] = await run('replay', ...since, '--dry-run', '--json');
    const types = { 'template.created': 1, 'template.deleted': 1 };
    expect([JSON.parse(text), ended]).toEqual([{ dry_run: true, total: 2, types }, expect.any(WouldChange)]);
    expect(await run('replay', ...since, '--type', 'message.failed', '--dry-run')).toEqual(['total 0']);
    expect(ended).toBeUndefined();
    expect([await arrived(), audited.entries]).toEqual([[], []]);
  });
});

test('list tells time, id and kind in a table, or as JSON; a span of time means until now', async () => {
  const width = created.id.length;
  expect(await run('list', ...since)).toEqual([
    `TIME                      ${'ID'.padEnd(width)}  TYPE`,
    `2026-10-01T10:00:00.000Z  ${created.id}  template.created`,
    `2026-10-01T11:00:00.000Z  ${deleted.id}  template.deleted`,
    '1 template.created',
    '1 template.deleted',
    'total 2',
  ]);
  const lines = await run('list', '--client', '1001', '--since', '13h', '--json');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    [{ time: '2026-10-01T11:00:00.000Z', id: deleted.id, type: 'template.deleted' }],
  ]);
  expect(await arrived()).toEqual([]);
});
