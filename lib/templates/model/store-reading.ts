import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { TemplateRow } from './row.ts';
import { goneUpstream, isAsStored, isYounger } from './stored-fact.ts';
import type { PlatformTemplate, StoredFact } from './template.ts';
import { deletedEvents, statusChangedEvents } from './template-event.ts';
import { templateKey } from './template-key.ts';
import type { TemplateStore } from './template-store.ts';

export interface ReadingPorts {
  readonly templates: Pick<TemplateStore, 'refresh' | 'writeUpstream'>;
  readonly events: EventSink;
}

export interface Reading {
  readonly waba: { readonly wabaId: string; readonly clientIds: readonly number[] };
  readonly before: StoredFact | undefined;
  /** The rows are read only when a client may have to be told. */
  readonly rows: () => Promise<readonly TemplateRow[]>;
  /** The template is undefined when the platform has none of this name and language. */
  readonly template: PlatformTemplate | undefined;
  readonly readAtMs: number;
}

/**
 * Tells every client of the WABA about changes (D34), then stores the reading. Events come first, so that the next
 * reader repeats an untold change. Never throws.
 */
export async function storeReading(ports: ReadingPorts, reading: Reading): Promise<void> {
  try {
    await writeReading(ports, reading);
  } catch (error) {
    log('template.not_stored', { wabaId: reading.waba.wabaId, error: errorName(error) });
  }
}

async function writeReading(ports: ReadingPorts, reading: Reading): Promise<void> {
  const { waba, before, template, readAtMs } = reading;
  if (before !== undefined && isYounger(before, readAtMs)) return;
  if (template === undefined) return await markGone(ports, reading);
  await tellDifference(ports.events, reading, template);
  const { wabaId, clientIds } = waba;
  const unchangedSinceMs = before !== undefined && isAsStored(template, before) ? before.sinceMs : undefined;
  await ports.templates.refresh({ wabaId, clientIds, unchangedSinceMs }, template, readAtMs);
}

async function tellDifference(
  events: EventSink,
  { waba, before, rows, readAtMs }: Reading,
  template: PlatformTemplate,
): Promise<void> {
  if (before === undefined || before.deleted || isAsStored(template, before)) return;
  const announced = { ...template, wabaId: waba.wabaId };
  const occasion = { sinceMs: before.sinceMs, nowMs: readAtMs };
  await events.send(
    goneUpstream(template)
      ? deletedEvents(announced, await rows(), readAtMs)
      : statusChangedEvents(announced, await rows(), occasion),
  );
}

/** A template that the platform never listed stays: it is just created, and lists lag. */
async function markGone({ events, templates }: ReadingPorts, { waba, before, rows, readAtMs }: Reading): Promise<void> {
  if (before === undefined || before.deleted || before.readAtMs === 0) return;
  const { wabaId } = waba;
  const having = await rows();
  await events.send(deletedEvents({ ...before.template, wabaId }, having, readAtMs));
  const clientIds = having.map(({ clientId }) => clientId);
  const key = templateKey({ wabaId, ...before.template });
  await templates.writeUpstream([{ kind: 'gone', templateKey: key, clientIds, readAtMs }]);
}
