import { eventTypes } from '../../lib/webhooks/event.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  callersPath,
  commandLine,
  helpOption,
} from '../operate/command.ts';
import { runningLocalStack } from '../operate/local-stacks.ts';
import { nameTarget } from '../operate/target.ts';
import { ApiRefusal, logIn } from './demo/client.ts';
import { forward } from './webhook-forward.ts';
import { printedAttempt, printedDelivery } from './webhook-lines.ts';
import {
  type Delivery,
  type OnDelivery,
  receiverUrl,
  startWebhookReceiver,
  type WebhookReceiver,
} from './webhook-receiver.ts';

const options = {
  user: { type: 'string', value: 'NAME', default: 'supervisor1001', about: 'a demo user, whose client is told' },
  events: {
    type: 'string',
    value: 'KIND,...',
    about: 'what the client is told from now on; all: every kind. Without it, what it was told before',
  },
  'forward-to': {
    type: 'string',
    value: 'URL',
    about:
      'hands each verified delivery on to a program of yours, with the headers that sign it, and its answer back to the service, so that a bad one is tried again; prints the secret, and a line an attempt',
  },
  stack: {
    type: 'string',
    value: 'FILE',
    about: 'the local stack that FILE describes, as npm start describes its own',
  },
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['events listen [--user NAME] [--events KIND,...] [--forward-to URL]'],
  about: `Receives the events of a demo client of the running local stack (npm start): registers a receiver on this
machine for the client of NAME (supervisor1001 by default), checks the signature of every delivery with the package
standardwebhooks, and prints it. Ctrl-C sets the configuration to active:false.

In another terminal, infra/ops events trigger KIND has the service send one event.`,
  options,
};

const interrupted = new AbortController();

interface Wanted {
  readonly username: string;
  readonly stackFile: string | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly forwardTo: string | undefined;
}

async function listen({ username, stackFile, kinds, forwardTo }: Wanted): Promise<void> {
  const stack = runningLocalStack(stackFile === undefined ? undefined : callersPath(stackFile));
  nameTarget(stack);
  const client = await logIn(stack, username, AbortSignal.any([interrupted.signal, AbortSignal.timeout(30_000)]));
  const secret = Promise.withResolvers<string>();
  const onDelivery = forwardTo === undefined ? printed : forwarding(forwardTo);
  const receiver = await openReceiver(stack.webhookReceiverPort, secret.promise, onDelivery);
  try {
    secret.resolve(await client.receiveEvents(receiverUrl, kinds));
    // Without forwarding the secret is not needed, and terminal output is often copied.
    if (forwardTo !== undefined) console.log(`signed with ${await secret.promise}, handed on to ${forwardTo}`);
    console.log(`events of the client of ${username} are printed here (Ctrl-C ends it)`);
    await untilInterrupted();
    // Without this the service would retry for more than a day.
    const { stopEvents } = await logIn(stack, username, AbortSignal.timeout(5_000));
    await stopEvents(receiverUrl);
  } finally {
    await receiver.close();
  }
}

async function openReceiver(port: number, secret: Promise<string>, onDelivery: OnDelivery): Promise<WebhookReceiver> {
  try {
    return await startWebhookReceiver(port, secret, onDelivery);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Port ${port} is in use: is \`infra/ops events listen\` running already?`, 1);
  }
}

const printed: OnDelivery = (delivery) => {
  console.log(printedDelivery(delivery, Date.now()));
  return undefined;
};

function forwarding(url: string): OnDelivery {
  const attempts = new Map<string, number>();
  const handOn = async (delivery: Delivery) => {
    const attempt = (attempts.get(delivery.webhookId) ?? 0) + 1;
    attempts.set(delivery.webhookId, attempt);
    const startedMs = performance.now();
    const answer = await forward(url, delivery);
    console.log(printedAttempt(delivery, { attempt, answer, tookMs: performance.now() - startedMs }, Date.now()));
    return answer;
  };
  return (delivery) => (delivery.verified ? handOn(delivery) : printed(delivery));
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.signal.aborted) resolve();
    interrupted.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Reads the kinds in the option; the API checks them. */
function kindsOf(text: string | undefined): readonly string[] | undefined {
  return text === 'all' ? eventTypes : text?.split(',').map((kind) => kind.trim());
}

function forwardUrlOf(text: string | undefined): string | undefined {
  if (text === undefined || /^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new CommandError(`--forward-to is no URL such as http://localhost:9000/hook: ${text}`);
}

export const command: Command = {
  words,
  run: async (typed) => {
    const { values } = commandLine({ args: [...typed], options });
    const forwardTo = forwardUrlOf(values['forward-to']);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());
    try {
      const kinds = kindsOf(values.events);
      await listen({ username: values.user, stackFile: values.stack, kinds, forwardTo });
    } catch (error) {
      if (error instanceof ApiRefusal) throw new CommandError(error.message, 1);
      throw error;
    }
    // The command is done; kept-alive connections must not delay its end.
    process.exit();
  },
};
