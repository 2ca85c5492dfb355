import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { type WebhookConfigs, webhookConfigStore } from '../../lib/webhooks/config/config-store.ts';
import { type EventSink, eventTypes, type ServiceEvent } from '../../lib/webhooks/event.ts';
import { eventQueue } from '../../lib/webhooks/event-queue.ts';
import { type EventRecords, eventRecordStore, recordedDays } from '../../lib/webhooks/event-record-store.ts';
import { CommandError, clientIdOf, commandLine, runCommand } from './command.ts';
import { auditOf, type OperatorAudit } from './operator-audit.ts';
import { openQueue, targetOf } from './target.ts';

const usage = `Events of the last ${recordedDays} days.

npm run events -- list --client ID --since TIME     what happened: time, id and kind, oldest first
npm run events -- replay --client ID --since TIME   send it again to the client's webhook, under the same ids

  --until TIME   the last moment, included; without it, now
  --type TYPE    only this kind, such as message.failed
  --dry-run      replay: count, and send nothing
  --stage NAME   a deployment on AWS; without it, the running local stack

Times are ISO 8601 with a zone (2026-10-01T12:00:00Z). What is sent again is delivered as if it were new, with all its attempts. Where
no webhook is switched on, replay sends nothing and ends with status 1.`;

const options = {
  client: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  type: { type: 'string' },
  'dry-run': { type: 'boolean' },
  stage: { type: 'string' },
  help: { type: 'boolean' },
} as const;

export interface EventsAt {
  readonly records: EventRecords;
  readonly configs: Pick<WebhookConfigs, 'findConfig'>;
  readonly queue: () => Promise<EventSink>;
  readonly audit: OperatorAudit;
}

/** Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 when a replay would reach no receiver. */
export async function eventsCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => EventsAt | Promise<EventsAt>,
  { print, nowMs }: { readonly print: (line: string) => void; readonly nowMs: () => number },
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  if (values.help) return print(usage);
  const [command, ...surplus] = positionals;
  if ((command !== 'list' && command !== 'replay') || surplus.length > 0) throw new CommandError(usage);
  const clientId = clientIdOf(values.client);
  const period = periodOf(values, nowMs());
  if (values.type !== undefined && !eventTypes.includes(values.type)) {
    throw new CommandError(`--type is none of ${eventTypes.join(', ')}: ${values.type}`);
  }
  const { records, configs, queue, audit } = await open(values.stage);
  if (command === 'replay' && (await configs.findConfig(clientId))?.active !== true) {
    throw new CommandError(`Nothing was sent: client ${clientId} has no webhook that is switched on.`, 1);
  }
  const sink = command === 'replay' && !values['dry-run'] ? await queue() : undefined;
  const { type } = values;
  const go = () =>
    goThrough(records.pages(clientId, period), { type, sink, print: command === 'list' ? print : undefined });
  const on = { clientId, ...omitUndefined({ eventType: type }) };
  const { counts, total } = sink === undefined ? await go() : await audit('command.events_replay', on, go);
  for (const [kind, count] of [...counts].sort()) print(`${count} ${kind}`);
  print(`total ${total}${sink === undefined || total === 0 ? '' : ', on their way again'}`);
}

/** Prints events, sends them, or only counts them. */
async function goThrough(
  pages: AsyncIterable<readonly ServiceEvent[]>,
  {
    type: only,
    sink,
    print,
  }: {
    readonly type: string | undefined;
    readonly sink: EventSink | undefined;
    readonly print: ((line: string) => void) | undefined;
  },
): Promise<{ readonly counts: ReadonlyMap<string, number>; readonly total: number }> {
  const counts = new Map<string, number>();
  // An event that was announced twice is one event.
  const seen = new Set<string>();
  for await (const page of pages) {
    const wanted = page.filter(({ id, type }) => {
      const takes = (only === undefined || only === type) && !seen.has(id);
      if (takes) seen.add(id);
      return takes;
    });
    for (const { type } of wanted) counts.set(type, (counts.get(type) ?? 0) + 1);
    if (print !== undefined) for (const event of wanted) print(describe(event));
    await sink?.send(wanted);
  }
  return { counts, total: seen.size };
}

function describe({ id, type, timestampMs }: ServiceEvent): string {
  return `${new Date(timestampMs).toISOString()}  ${id}  ${type}`;
}

function periodOf(given: { readonly since?: string | undefined; readonly until?: string | undefined }, nowMs: number) {
  const sinceMs = timeMs(given.since, '--since');
  const untilMs = given.until === undefined ? nowMs : timeMs(given.until, '--until');
  if (untilMs < sinceMs) throw new CommandError('--until is before --since');
  return { sinceMs, untilMs };
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

function timeMs(text: string | undefined, name: string): number {
  if (text === undefined) throw new CommandError(`${name} is missing`);
  const ms = isoTime.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new CommandError(`${name} is not a time such as 2026-10-01T12:00:00Z: ${text}`);
  return ms;
}

/** `Date` parses 30 February as 2 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

if (import.meta.main) {
  await runCommand(() => eventsCommand(process.argv.slice(2), openStage, { print: console.log, nowMs: Date.now }));
}

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
