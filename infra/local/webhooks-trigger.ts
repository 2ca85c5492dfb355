import { ulid } from 'ulid';
import { didYouMean } from '../../lib/http/closest-name.ts';
import { defaultEventTypes, type EventType, eventTypes, isEventType } from '../../lib/webhooks/event.ts';
import { eventQueue } from '../../lib/webhooks/event-queue.ts';
import { subscribedTypes } from '../../lib/webhooks/event-subscription.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  callersPath,
  commandLine,
  helpOption,
} from '../operate/command.ts';
import { helpOf } from '../operate/help.ts';
import { runningLocalStack } from '../operate/local-stacks.ts';
import { localQueue, nameTarget } from '../operate/target.ts';
import { ApiRefusal, type DemoClient, type DemoWebhook, logIn } from './demo/client.ts';
import { sampleEvent } from './demo/sample-event.ts';

const options = {
  user: { type: 'string', value: 'NAME', default: 'supervisor1001', about: 'a demo user, whose client is told' },
  stack: {
    type: 'string',
    value: 'FILE',
    about: 'the local stack that FILE describes, as npm start describes its own',
  },
  help: helpOption,
} as const;

const onlyAsked = eventTypes.filter((type) => isEventType(type) && !defaultEventTypes.has(type));

const words: CommandWords = {
  lines: ['events trigger KIND [--user NAME]'],
  about: `Has the running local stack (npm start) send one event of that kind to the webhook of the client of NAME
(supervisor1001 by default): it is put on the event queue, and delivered, signed and tried again as any other. Nothing
happened: its dispatch and its template belong to no client. Start infra/ops events listen first.

Kinds: ${eventTypes.join(', ')}.

Only to clients that asked for them, as with infra/ops events listen --events all: ${onlyAsked.join(', ')}.`,
  options,
};

const limitMs = 30_000;

function kindOf(positionals: readonly string[]): EventType {
  const [kind, ...surplus] = positionals;
  if (kind === undefined || surplus.length > 0) throw new CommandError(helpOf(words));
  if (isEventType(kind)) return kind;
  throw new CommandError(`${kind} is no kind of event${didYouMean(kind, eventTypes)}\nKinds: ${eventTypes.join(', ')}`);
}

/** Refuses what the service would drop (D41), and says what to do. */
async function destination(client: DemoClient, kind: EventType, username: string): Promise<DemoWebhook> {
  const webhook = await client.webhook();
  const listen = `infra/ops events listen --user ${username}`;
  if (webhook?.active !== true) {
    throw new CommandError(`The client of ${username} has no webhook that is switched on: start ${listen}`, 1);
  }
  if (subscribedTypes(webhook).has(kind)) return webhook;
  throw new CommandError(`The client of ${username} does not ask for ${kind}: start ${listen} --events all`, 1);
}

async function trigger(kind: EventType, username: string, stackFile: string | undefined): Promise<void> {
  const stack = runningLocalStack(stackFile === undefined ? undefined : callersPath(stackFile));
  nameTarget(stack);
  const client = await logIn(stack, username, AbortSignal.timeout(limitMs));
  const { client_id: clientId, url } = await destination(client, kind, username);
  const subject = { clientId, ...(await client.channel()) };
  const event = sampleEvent(kind, subject, { dispatchId: ulid(), nowMs: Date.now() });
  const queue = localQueue(stack, 'events');
  await eventQueue(queue.client, queue.url).send([event]);
  queue.client.destroy();
  console.log(`${event.id} ${kind}, on its way to ${url}`);
}

export const command: Command = {
  words,
  run: async (typed) => {
    const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
    const kind = kindOf(positionals);
    try {
      await trigger(kind, values.user, values.stack);
    } catch (error) {
      if (error instanceof ApiRefusal) throw new CommandError(error.message, 1);
      throw error;
    }
  },
};
