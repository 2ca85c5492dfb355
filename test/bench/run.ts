import { join, resolve } from 'node:path';
import { buildFunctions } from '../../infra/build.ts';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { resourceName } from '../../infra/names.ts';
import { benchAcceptance } from './acceptance.ts';
import { benchBundles } from './bundles.ts';
import { benchChannels } from './channels.ts';
import { benchCost } from './cost/command.ts';
import { benchDispatch } from './dispatch.ts';
import { benchEndToEnd } from './end-to-end.ts';
import { benchEventDelivery } from './event-delivery.ts';
import { figuresAboveTheirLimit } from './figure.ts';
import { benchListing } from './listing.ts';
import { onOwnStack } from './own-stack.ts';
import { benchPace } from './pace.ts';
import { benchPaceOnStack } from './pace-on-stack.ts';
import { benchPlatformWebhook } from './platform-webhook.ts';
import { benchReceipts } from './receipts.ts';
import { benchReports } from './reports.ts';
import { benchStartup } from './startup.ts';
import { benchSynchronization } from './synchronization.ts';
import { benchTemplateChanges } from './template-changes.ts';
import { benchWire } from './wire.ts';

// `npm run bench`: builds, measures, prints one JSON line per figure; exit status 1 when one is above its limit. What
// is compared is taken in turns within one run, because machines differ and are busy.

const root = resolve(import.meta.dirname, '../..');
const interrupted = new AbortController();
let pricesAreHeld = false;

async function bench(): Promise<void> {
  chosenDynamoDb(process.env);
  const names = await buildFunctions({
    functionsDirectory: join(root, 'functions'),
    outputDirectory: join(root, 'dist'),
  });
  benchBundles(names);
  await benchDispatch();
  await benchPace();
  await benchWire();
  await benchPlatformWebhook();
  await benchEventDelivery();
  const environments = await benchOnStack();
  const environmentOf = (name: string) => environments.get(resourceName('local', name));
  // What only other deployments have (`onlyWith`) is not on the stack, and has no environment to start in.
  const deployed = names.filter((name) => environmentOf(name) !== undefined);
  await benchStartup(deployed, (name) => environmentOf(name) ?? {}, interrupted.signal);
  pricesAreHeld = await benchCost(interrupted.signal);
}

/** The figures that need the whole service; returns the environment variables of every function, as deployed. */
function benchOnStack(): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const { signal } = interrupted;
  return onOwnStack('bench', signal, async (stack) => {
    await measure(stack, signal);
    const functions = Object.values(stack.template.functions);
    return new Map(functions.map(({ name, environment }) => [name, environment]));
  });
}

async function measure(stack: RunningStack, signal: AbortSignal): Promise<void> {
  // First, while no worker has been started yet.
  await benchPaceOnStack(stack, signal);
  await benchEndToEnd(stack, signal);
  // The jobs that these acceptances leave behind are nobody's: they end with the stack.
  await stack.poller.pause();
  await benchAcceptance(stack);
  await benchReceipts(stack);
  await benchTemplateChanges(stack);
  await benchSynchronization(stack);
  await benchListing(stack);
  await benchChannels(stack);
  await benchReports(stack);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

try {
  await bench();
  process.exitCode = figuresAboveTheirLimit() === 0 && pricesAreHeld ? 0 : 1;
} catch (error) {
  console.error(interrupted.signal.aborted ? 'Interrupted.' : error);
  process.exitCode = 1;
}
process.exit();
