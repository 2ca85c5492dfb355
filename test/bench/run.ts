import { join, resolve } from 'node:path';
import { buildFunctions } from '../../infra/build.ts';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { resourceName } from '../../infra/names.ts';
import { interrupted, proofCommand } from '../proof/command.ts';
import { onOwnStack } from '../proof/own-stack.ts';
import { benchAcceptance } from './acceptance.ts';
import { benchChannels } from './channels.ts';
import { benchConsole } from './console.ts';
import { benchCost } from './cost/command.ts';
import { benchEndToEnd } from './end-to-end.ts';
import { benchEventDelivery } from './event-delivery.ts';
import { figuresAboveTheirLimit } from './figure.ts';
import { benchListing } from './listing.ts';
import { benchLocal } from './local.ts';
import { benchReports } from './reports.ts';
import { benchSenderRate } from './sender-rate.ts';
import { benchStartup } from './startup.ts';
import { benchSynchronization } from './synchronization.ts';
import { benchWorker } from './worker.ts';
import { benchWorlds } from './worlds.ts';

// `npm run bench -- NAME ...` builds, measures, and prints one JSON line for each figure; without a name it lists all.
// The exit status is 1 when a figure is above its limit or failed.

// Comparisons run in turns, because machines differ and are busy.

// The metrics of the measured code would stand between the figures.
process.env['POWERTOOLS_METRICS_DISABLED'] = 'true';

type OnStack = (stack: RunningStack, signal: AbortSignal) => Promise<void>;

/** Every benchmark has the name of its file. They run in this order. */
const withoutStack: Readonly<Record<string, () => Promise<void> | void>> = {
  worlds: benchWorlds,
  'event-delivery': benchEventDelivery,
  console: benchConsole,
  local: () => benchLocal(interrupted),
};
const whileQueuesAreFed: Readonly<Record<string, OnStack>> = {
  'end-to-end': benchEndToEnd,
};
/** No worker needs the dispatches of these acceptances: they end with the stack. */
const whileQueuesRest: Readonly<Record<string, OnStack>> = {
  acceptance: benchAcceptance,
  synchronization: benchSynchronization,
  listing: benchListing,
  channels: benchChannels,
  reports: benchReports,
  worker: benchWorker,
  'sender-rate': benchSenderRate,
};
const needsStack = [...Object.keys(whileQueuesAreFed), ...Object.keys(whileQueuesRest), 'startup'];
const benchmarks = [...Object.keys(withoutStack), ...needsStack, 'cost'];

const root = resolve(import.meta.dirname, '../..');
const asked = process.argv.slice(2);
let unmeasured = 0;

const isAsked = (name: string) => asked.includes(name);

async function bench(): Promise<void> {
  chosenDynamoDb(process.env);
  const names = await buildFunctions({
    functionsDirectory: join(root, 'functions'),
    outputDirectory: join(root, 'dist'),
  });
  await each(withoutStack, async (measure) => measure());
  if (needsStack.some(isAsked)) {
    const environments = await benchOnStack();
    const environmentOf = (name: string) => environments.get(resourceName('local', name));
    // Functions of other deployments (`onlyWith`) are not on this stack, and have no environment to start in.
    const deployed = names.filter((name) => environmentOf(name) !== undefined);
    const startup = () => benchStartup(deployed, (name) => environmentOf(name) ?? {}, interrupted);
    await each({ startup }, (measure) => measure());
  }
  await each({ cost: benchCost }, async (measure) => {
    if (!(await measure(interrupted))) unmeasured += 1;
  });
}

/**
 * Measures the figures that need the whole service. Returns the environment variables of each function, as deployed.
 */
function benchOnStack(): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const signal = interrupted;
  return onOwnStack({ name: 'bench', signal }, async (stack) => {
    await each(whileQueuesAreFed, (measure) => measure(stack, signal));
    await stack.poller.pause();
    await each(whileQueuesRest, (measure) => measure(stack, signal));
    const functions = Object.values(stack.template.functions);
    return new Map(functions.map(({ name, environment }) => [name, environment]));
  });
}

/** Runs the selected benchmarks. One that fails, for example on a busy machine, does not stop the others. */
async function each<M>(measures: Readonly<Record<string, M>>, run: (measure: M) => Promise<void>): Promise<void> {
  for (const [name, measure] of Object.entries(measures)) {
    if (!isAsked(name)) continue;
    try {
      await run(measure);
    } catch (error) {
      interrupted.throwIfAborted();
      unmeasured += 1;
      console.error(`${name} was not measured to its end:`, error);
    }
  }
}

if (asked.length === 0 || asked.some((word) => word === '--help' || word === '-h')) {
  console.log(`npm run bench -- NAME ...\n\n${benchmarks.join('\n')}`);
  process.exit();
}
const strangers = asked.filter((name) => !benchmarks.includes(name));
if (strangers.length > 0) {
  console.error(`There is no benchmark ${strangers.join(', ')}. There are: ${benchmarks.join(', ')}.`);
  process.exit(2);
}

await proofCommand(async () => {
  await bench();
  process.exitCode = figuresAboveTheirLimit() + unmeasured === 0 ? 0 : 1;
});
