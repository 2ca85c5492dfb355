import { isLoopbackOrigin } from '../loopback.ts';
import { purposeOf, resourceName } from '../names.ts';
import type { LocalStack } from '../operate/local-stacks.ts';
import { attemptReporter } from './attempt-reporter.ts';
import { functionEnvironment, receiverEnvironment } from './function-environment.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import { debuggedTimeoutMs, type FunctionLogLine } from './instance.ts';
import { instanceLimitsOf } from './instance-limits.ts';
import { localRegion } from './intrinsics.ts';
import type { LocalTemplate } from './local-template.ts';
import { subscribeCallback } from './platform-callback.ts';
import { type Poller, startPoller } from './poller.ts';
import { Obstacle } from './preflight.ts';
import { reservePort } from './reserved-port.ts';
import { createRunner, type ProcessRunner } from './runner.ts';
import { startSchedules } from './schedules.ts';
import { localStage, type ServerOptions, startServers } from './servers.ts';
import { Parts } from './stack-parts.ts';
import { prepareStores } from './stores.ts';

export interface StackOptions extends ServerOptions {
  /** 0 takes any free port. */
  readonly apiPort: number;
  /** Pages of these origins may call the API beside local ones (D52); `*` means all. */
  readonly corsOrigins?: readonly string[];
  readonly onLog?: (line: FunctionLogLine) => void;
  readonly onAnswer?: GatewayOptions['onAnswer'];
  readonly sourceMaps?: boolean;
  /** The default is a minute. */
  readonly idleMs?: number;
  /** Functions get what is in their queue at once, without the batch windows of the template. */
  readonly withoutWindows?: boolean;
  /** The functions accept only requests with one of these comma-separated keys, as behind an edge. */
  readonly edgeKeys?: string;
  readonly report?: (line: string) => void;
  /** Aborts the start; `startStack` then ends everything and rejects. */
  readonly signal?: AbortSignal;
}

export interface RunningStack {
  readonly addresses: Omit<LocalStack, 'pid'>;
  /** The reason why the simulator sends the API no webhooks; undefined when it sends them. */
  readonly withoutWebhooks: string | undefined;
  readonly template: LocalTemplate;
  readonly runner: ProcessRunner;
  readonly poller: Poller;
  /** Resolves when a process of the stack has ended by itself. */
  readonly broken: Promise<Error>;
  /** Takes at most three seconds. */
  stop(): Promise<void>;
}

/** Starts the service from its synthesized template. When a step fails, everything started is ended first. */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const parts = new Parts();
  const broken = Promise.withResolvers<Error>();
  // Ctrl-C ends the children at the same time, so the signal gets a moment to arrive here too.
  const onExit = (how: string) => setTimeout(() => parts.ending || broken.resolve(new Error(how)), 100);
  const assembling = assemble(options, { parts, broken: broken.promise, onExit });
  try {
    const failed = broken.promise.then((error) => Promise.reject(error));
    return await Promise.race([assembling, failed, rejectionOf(options.signal)]);
  } catch (error) {
    assembling.catch(() => undefined);
    await parts.end();
    throw error;
  }
}

function rejectionOf(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Assembly {
  readonly parts: Parts;
  readonly broken: Promise<Error>;
  readonly onExit: (how: string) => void;
}

async function assemble(options: StackOptions, assembly: Assembly): Promise<RunningStack> {
  const { parts, broken } = assembly;
  // Templates contain the API's own address for redirects, so the port is known before the API opens.
  const apiPort = await parts.start('servers', () => reservePort(options.apiPort));
  const redirectBaseUrl = `http://127.0.0.1:${apiPort.number}/r`;
  const { template, addresses, queueUrl } = await startServers({ ...options, redirectBaseUrl }, assembly);
  const sqsClient = await prepareStores(parts, template, { ...addresses, report: options.report ?? ignore });
  const { inspected, onAnswer, sourceMaps, idleMs, corsOrigins = [] } = options;
  const maximumInstances = instanceLimitsOf(template.functions, localStage);
  const tellAttempt = attemptReporter(addresses.platformUrl);
  const runner = createRunner({
    functions: template.functions,
    maximumInstances,
    environment: {
      ...functionEnvironment(addresses),
      ...receiverEnvironment(addresses),
      ...(options.edgeKeys === undefined ? {} : { BEHIND_EDGE: 'true' }),
    },
    sourceMaps,
    idleMs,
    inspected: inspected && { functionId: functionIdOf(template, inspected.name), port: inspected.port },
    onLog: ({ functionName, ...line }) => {
      const named = { functionName: purposeOf(localStage, functionName), ...line };
      tellAttempt(named);
      options.onLog?.(named);
    },
  });
  await parts.start('functions', async () => runner);
  await apiPort.stop();
  const gateway = await parts.start('intake', () =>
    startGateway({
      template,
      invoke: runner.invoke,
      region: localRegion,
      port: apiPort.number,
      stageVariables: options.edgeKeys === undefined ? undefined : { edgeKeys: options.edgeKeys },
      alsoAllowsOrigin: (origin) =>
        isLoopbackOrigin(origin) || corsOrigins.includes(origin) || corsOrigins.includes('*'),
      onAnswer,
      ...(inspected === undefined ? {} : patience),
    }),
  );
  const nameOf = (functionId: string) => purposeOf(localStage, template.functions[functionId]?.name ?? functionId);
  const { poller } = await parts.start('intake', async () => {
    const { eventSources } = template;
    const feeding = startPoller({
      client: sqsClient,
      eventSources: options.withoutWindows
        ? eventSources.map((source) => ({ ...source, windowSeconds: 0 }))
        : eventSources,
      queueUrl,
      runner,
      maximumInstances,
      nameOf,
      report: options.report ?? ignore,
    });
    // Batches in flight get a moment to finish; unfinished messages come again, as after a crash.
    return { poller: feeding, stop: () => feeding.stop(700) };
  });
  await parts.start('intake', async () =>
    startSchedules({ schedules: template.schedules, runner, nameOf, report: options.report ?? ignore }),
  );
  const withoutWebhooks = await subscribeCallback(addresses.platformUrl, gateway.url);
  return {
    addresses: { apiUrl: gateway.url, ...addresses },
    withoutWebhooks,
    template,
    runner,
    poller,
    broken,
    stop: () => parts.end(),
  };
}

const patience = { integrationTimeoutMs: debuggedTimeoutMs, authorizerTimeoutMs: debuggedTimeoutMs };

function functionIdOf({ functions }: LocalTemplate, name: string): string {
  const [id] =
    Object.entries(functions).find(([, definition]) => definition.name === resourceName(localStage, name)) ?? [];
  if (id === undefined) throw new Obstacle(`The local stack has no function ${name}: only other deployments do.`);
  return id;
}

function ignore(): void {}
