import { type WebhookConfigs, webhookConfigStore } from '../../../lib/webhooks/config/config-store.ts';
import { type EventSink, eventTypes, type ServiceEvent } from '../../../lib/webhooks/event.ts';
import { eventQueue } from '../../../lib/webhooks/event-queue.ts';
import { type EventRecords, eventRecordStore, recordedDays } from '../../../lib/webhooks/event-record-store.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  clientIdOf,
  commandLine,
  helpOption,
  jsonOption,
  sinceOption,
  stageOption,
  untilOption,
  WouldChange,
} from '../command.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { type Progress, progressOn } from '../progress.ts';
import { tableOf } from '../table.ts';
import { openQueue, targetOf } from '../target.ts';
import { type Period, periodOf } from '../time-span.ts';

const common = {
  client: { type: 'string', value: 'ID', about: 'whose events' },
  since: sinceOption,
  until: untilOption,
  type: { type: 'string', value: 'TYPE', about: 'only this kind, such as message.failed' },
} as const;
const listOptions = { ...common, json: jsonOption, stage: stageOption, help: helpOption } as const;
const replayOptions = {
  ...common,
  id: { type: 'string', value: 'ID', multiple: true, about: 'only the event with this id; may stand several times' },
  'dry-run': {
    type: 'boolean',
    default: false,
    about: 'counts, and sends nothing; ends with 3 when it would send something, else with 0',
  },
  json: { ...jsonOption, about: 'how many of each kind, as one JSON document' },
  stage: stageOption,
  help: helpOption,
} as const;

const listWords: CommandWords = {
  lines: ['events list --client ID --since TIME'],
  about: `What a client was told, or would have been, in the last ${recordedDays} days: the oldest first.`,
  options: listOptions,
};
const replayWords: CommandWords = {
  lines: ['events replay --client ID --since TIME', 'events replay --client ID --id ID'],
  about: `Sends what a client was told in the last ${recordedDays} days to its webhook once more, under the same ids, as if
it were new, with all its attempts. Where no webhook is switched on, it sends nothing and ends with status 1.`,
  options: replayOptions,
};

export interface EventsAt {
  readonly records: EventRecords;
  readonly configs: Pick<WebhookConfigs, 'findConfig'>;
  readonly queue: () => Promise<EventSink>;
  readonly audit: OperatorAudit;
}

type Open = (stage: string | undefined) => EventsAt | Promise<EventsAt>;

interface Surroundings {
  readonly print: (line: string) => void;
  /** Tells what belongs to no table, on stderr. */
  readonly tell: (line: string) => void;
  readonly progress: Progress;
  readonly nowMs: () => number;
}

/** Runs one command line of `events list`. Throws `CommandError`: status 2 for wrong usage. */
export async function eventsListCommand(typed: readonly string[], open: Open, around: Surroundings): Promise<void> {
  const { values } = commandLine({ args: [...typed], options: listOptions });
  const clientId = clientIdOf(values.client);
  const period = periodOf(values, around.nowMs());
  const isWanted = wanted(values);
  const { records } = await open(values.stage);
  const found: ServiceEvent[] = [];
  for await (const events of eachOnce(records.pages(clientId, period), isWanted)) found.push(...events);
  const rows = found.map(({ id, type, timestampMs }) => ({ time: new Date(timestampMs).toISOString(), id, type }));
  if (values.json) return around.print(JSON.stringify(rows, null, 2));
  for (const line of tableOf(
    ['TIME', 'ID', 'TYPE'],
    rows.map(({ time, id, type }) => [time, id, type]),
  )) {
    around.print(line);
  }
  for (const line of countLines(found)) around.tell(line);
}

/**
 * Runs one command line of `events replay`. Throws `CommandError`: status 2 for wrong usage, 1 when it would reach no
 * receiver, or an id is not found.
 */
export async function eventsReplayCommand(typed: readonly string[], open: Open, around: Surroundings): Promise<void> {
  const { values } = commandLine({ args: [...typed], options: replayOptions });
  const clientId = clientIdOf(values.client);
  const nowMs = around.nowMs();
  const ids = new Set(values.id);
  // An id is looked for in all that is kept.
  const since = values.since ?? (ids.size === 0 ? undefined : `${recordedDays}d`);
  const period = periodOf({ ...values, since }, nowMs);
  const isWanted = wanted(values, ids);
  const { records, configs, queue, audit } = await open(values.stage);
  if ((await configs.findConfig(clientId))?.active !== true) {
    throw new CommandError(`Nothing was sent: client ${clientId} has no webhook that is switched on.`, 1);
  }
  if (ids.size > 0) await assertThere(ids, { records, clientId, period });
  const sink = values['dry-run'] ? undefined : await queue();
  const go = () => sendAgain(eachOnce(records.pages(clientId, period), isWanted), sink, around.progress);
  const on = { clientId, eventType: values.type };
  const found = sink === undefined ? await go() : await audit('command.events_replay', on, go);
  if (values.json) {
    const types = Object.fromEntries(countsOf(found));
    around.print(JSON.stringify({ dry_run: sink === undefined, total: found.length, types }, null, 2));
  } else {
    const goes = sink === undefined || found.length === 0 ? '' : ', on their way again';
    const lines = countLines(found);
    for (const line of lines) around.print(line === lines.at(-1) ? `${line}${goes}` : line);
  }
  if (sink === undefined && found.length > 0) throw new WouldChange('dry run: nothing was sent');
}

/** Throws `CommandError` when one of the events is not there, before any is sent. */
async function assertThere(
  ids: ReadonlySet<string>,
  { records, clientId, period }: { readonly records: EventRecords; readonly clientId: number; readonly period: Period },
): Promise<void> {
  const missing = new Set(ids);
  for await (const events of records.pages(clientId, period)) for (const { id } of events) missing.delete(id);
  if (missing.size === 0) return;
  const named = [...missing].join(', ');
  throw new CommandError(`Nothing was sent: in this time client ${clientId} was not told ${named}.`, 1);
}

function wanted({ type }: { readonly type?: string | undefined }, ids: ReadonlySet<string> = new Set()) {
  if (type !== undefined && !eventTypes.includes(type)) {
    throw new CommandError(`--type is none of ${eventTypes.join(', ')}: ${type}`);
  }
  return (event: ServiceEvent) => (type === undefined || type === event.type) && (ids.size === 0 || ids.has(event.id));
}

/** An event that was announced twice is one event. */
async function* eachOnce(
  pages: AsyncIterable<readonly ServiceEvent[]>,
  isWanted: (event: ServiceEvent) => boolean,
): AsyncGenerator<ServiceEvent[]> {
  const seen = new Set<string>();
  for await (const page of pages) {
    yield page.filter((event) => {
      const takes = isWanted(event) && !seen.has(event.id);
      if (takes) seen.add(event.id);
      return takes;
    });
  }
}

/** Sends events, or only counts them; returns the kind of each. */
async function sendAgain(
  pages: AsyncIterable<readonly ServiceEvent[]>,
  sink: EventSink | undefined,
  progress: Progress,
): Promise<readonly Pick<ServiceEvent, 'type'>[]> {
  const found: Pick<ServiceEvent, 'type'>[] = [];
  await progress(
    () => `${found.length} events`,
    async () => {
      for await (const events of pages) {
        await sink?.send(events);
        for (const { type } of events) found.push({ type });
      }
    },
  );
  return found;
}

type Kinds = readonly Pick<ServiceEvent, 'type'>[];

function countsOf(found: Kinds): [kind: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { type } of found) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].sort();
}

function countLines(found: Kinds): string[] {
  return [...countsOf(found).map(([kind, count]) => `${count} ${kind}`), `total ${found.length}`];
}

const onTerminal: Surroundings = {
  print: console.log,
  tell: console.error,
  progress: progressOn(process.stderr),
  nowMs: Date.now,
};

export const list: Command = { words: listWords, run: (typed) => eventsListCommand(typed, openStage, onTerminal) };
export const replay: Command = {
  words: replayWords,
  run: (typed) => eventsReplayCommand(typed, openStage, onTerminal),
};

async function openStage(stage: string | undefined): Promise<EventsAt> {
  const target = await targetOf(stage);
  const { documentClient, tableName } = target;
  return {
    audit: auditOf(target, stage),
    records: eventRecordStore(documentClient, tableName('webhooks')),
    configs: webhookConfigStore(documentClient, tableName('webhooks')),
    queue: async () => {
      const { client, url } = await openQueue(stage, 'events');
      return eventQueue(client, url);
    },
  };
}
