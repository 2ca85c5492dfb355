import { CommandError, callersPath, commandLine, runCommand } from '../operate/command.ts';
import { runningLocalStack } from '../operate/local-stacks.ts';
import { nameTarget } from '../operate/target.ts';
import { ApiRefusal, logIn } from './demo/client.ts';
import { type Delivery, receiverUrl, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const usage = `usage: npm run webhooks:listen -- [--user NAME]

Receives the events of a demo client of the running local stack (npm start): registers a receiver on this machine for the
client of NAME (supervisor1001 unless told), checks the signature of every delivery with the package standardwebhooks, and
prints it. Ctrl-C sets the configuration to active:false.`;

const interrupted = new AbortController();

/** One delivery for a terminal. */
function describe({ webhookId, verified, body }: Delivery): string {
  const at = new Date().toISOString().slice(11, 19);
  return `\n${at} ${webhookId} ${verified ? 'verified' : 'NOT VERIFIED: answered 400'}\n${indented(body)}`;
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

async function listen(username: string, stackFile: string | undefined): Promise<void> {
  const stack = runningLocalStack(stackFile === undefined ? undefined : callersPath(stackFile));
  nameTarget(stack);
  const client = await logIn(stack, username, AbortSignal.any([interrupted.signal, AbortSignal.timeout(30_000)]));
  const secret = Promise.withResolvers<string>();
  const receiver = await openReceiver(stack.webhookReceiverPort, secret.promise);
  try {
    secret.resolve(await client.receiveEvents(receiverUrl));
    console.log(`events of the client of ${username} are printed here (Ctrl-C ends it)`);
    await untilInterrupted();
    // Or the service would go on trying for a day to reach what is no longer there.
    const { stopEvents } = await logIn(stack, username, AbortSignal.timeout(5_000));
    await stopEvents(receiverUrl);
  } finally {
    await receiver.close();
  }

  async function openReceiver(port: number, known: Promise<string>): Promise<WebhookReceiver> {
    try {
      return await startWebhookReceiver(port, known, (delivery) => console.log(describe(delivery)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      throw new CommandError(`Port ${port} is in use: is \`npm run webhooks:listen\` running already?`, 1);
    }
  }
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.signal.aborted) resolve();
    interrupted.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

await runCommand(async () => {
  const { values } = commandLine({
    options: { user: { type: 'string' }, stack: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return console.log(usage);
  try {
    await listen(values.user ?? 'supervisor1001', values.stack);
  } catch (error) {
    if (error instanceof ApiRefusal) throw new CommandError(error.message, 1);
    throw error;
  }
});
// Nothing is left to do: connections that are still kept alive must not delay the end.
process.exit();
