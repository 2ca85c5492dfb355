import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type DemoClient, logIn } from '../../../infra/local/demo/client.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import type { FunctionLogLine } from '../../../infra/local/instance.ts';
import { chosenDynamoDb } from '../../../infra/local/preflight.ts';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { CommandError } from '../../../infra/operate/command.ts';
import { noteLocalStack } from '../../../infra/operate/local-stacks.ts';
import { alarmLine } from '../../support/alarm-states.ts';
import type { ToldRecipient } from '../../support/send-audit.ts';
import { onOwnStack, templateFolder } from '../own-stack.ts';
import { alarmOf, type LoggedEvent, Measuring, minuteMs } from './measuring.ts';
import { operated } from './operating.ts';
import { type Description, shownVerdict } from './play.ts';
import { type StackQueues, stackQueues } from './queues.ts';
import { bookMeaning } from './run-book.ts';
import { startTroubledStore, type TroubledStore } from './store-trouble.ts';
import { eventFaults, receiveEvents, type ToldEvents } from './told-events.ts';
import { demoUser, type Place, Trial } from './trial.ts';

const dist = join(import.meta.dirname, '../../../dist');
const usualMinutes = 30;
/** A verdict needs this after the time is over. */
const verdictMs = 5 * 60_000;

interface Given extends Place {
  readonly stack: RunningStack;
  readonly tablesEndpoint: string;
  readonly store: TroubledStore;
  readonly queues: StackQueues;
  readonly events: ToldEvents;
  readonly measuring: Measuring;
  readonly outputDirectory: string;
}

/**
 * A trial on a local stack of its own: with harm to its tables and queues, with alarms, with commands of operators, and
 * with a receiver of what the clients are told.
 */
export class LocalTrial extends Trial {
  readonly stack: RunningStack;
  /** The tables without trouble. */
  readonly tablesEndpoint: string;
  readonly store: TroubledStore;
  readonly queues: StackQueues;
  readonly events: ToldEvents;
  /** An alarm rang for each of these purposes. */
  readonly rang = new Set<string>();
  readonly #measuring: Measuring;
  readonly #outputDirectory: string;
  readonly #heard = new Set<string>();

  constructor(given: Given) {
    super(given);
    this.stack = given.stack;
    this.tablesEndpoint = given.tablesEndpoint;
    this.store = given.store;
    this.queues = given.queues;
    this.events = given.events;
    this.#measuring = given.measuring;
    this.#outputDirectory = given.outputDirectory;
  }

  /** The user's client is told what is unusual from then on. */
  override async logIn(user: string = demoUser): Promise<DemoClient> {
    const client = await super.logIn(user);
    if (!this.#heard.has(user)) await this.events.hear(client);
    this.#heard.add(user);
    return client;
  }

  protected override async underWay(): Promise<number> {
    // Counts of costs wait in `watch` for minutes, and send nothing.
    return (await this.queues.held(['dispatch', 'urgent', 'receipts', 'events'])) + (await super.underWay());
  }

  protected override eventFaults(told: readonly ToldRecipient[]): readonly string[] {
    return eventFaults(this.events, told, new Map(this.dispatches.map((each) => [each.dispatchId, each])));
  }

  /** Fails when the alarm rings: it must not ring before the incident that it tells. */
  isQuiet(purpose: string): void {
    const { alarm, standing } = this.#alarm(purpose);
    if (standing.rings) throw new Error(`${alarm.name} rings without a cause: ${JSON.stringify(standing.values)}`);
  }

  /** Waits until the alarm rings, and tells which one it is and by which values. */
  async rings(purpose: string): Promise<void> {
    const look = () => this.#alarm(purpose).standing;
    const { values } = await this.until(`${purpose} rings`, look, ({ rings }) => rings);
    this.rang.add(purpose);
    this.tell('told', `ALARM  ${alarmLine(this.#alarm(purpose).alarm)}: ${values.join(', ')}`);
  }

  async quietAgain(purpose: string): Promise<void> {
    await this.until(
      `${purpose} is quiet`,
      () => this.#alarm(purpose).standing.rings,
      (rings) => !rings,
    );
    this.tell('proof', `OK     ${purpose}`);
  }

  #alarm(purpose: string) {
    const { stage } = this.stack.addresses;
    const alarm = alarmOf(purpose, { outputDirectory: this.#outputDirectory, stage });
    return { alarm, standing: this.#measuring.standing(alarm) };
  }

  /** Waits for a line of the log, and tells it beside what the run book says of it. */
  async logged(event: string, matches: (line: LoggedEvent) => boolean = () => true): Promise<LoggedEvent> {
    const look = () => this.#measuring.eventsNamed(event).find(matches);
    const line = await this.until(`${event} is logged`, look, (found) => found !== undefined);
    if (line === undefined) throw new Error(`${event} was not logged`);
    this.tell('told', `LINE   ${JSON.stringify(line)}\n       ${event}: ${bookMeaning(event)}`);
    return line;
  }

  /** Waits for a line that counts the metric and has what the run book looks for in it, and tells that. */
  async counted(metric: string, { name, value }: { readonly name: string; readonly value: unknown }): Promise<void> {
    const look = () => this.#measuring.linesCounting(metric).some((line) => isDeepStrictEqual(line[name], value));
    await this.until(`a line that counts ${metric} has ${name}`, look, (has) => has);
    this.tell('told', `LINE   ${metric} is counted with ${name} ${JSON.stringify(value)}`);
  }

  countLogged(event: string): number {
    return this.#measuring.eventsNamed(event).length;
  }

  /**
   * Runs a command of an operator against this stack, as a process. Throws when it ends with another status: 1 refuses, 3
   * only shows what it would change. Returns what it printed.
   */
  async operate(command: string, { input, status = 0 }: { input?: string; status?: 0 | 1 | 3 } = {}): Promise<string> {
    const port = new URL(this.stack.addresses.apiUrl).port;
    const { status: ended, output } = await operated(command, { port, input, signal: this.signal });
    this.tell('end', `$ ${command}\n${output}`);
    if (ended !== status) throw new Error(`${command} was to end with status ${status}, and ended with ${ended}`);
    return output;
  }
}

interface LocalDescription extends Omit<Description, 'play'> {
  readonly play: (trial: LocalTrial) => Promise<void>;
  readonly minutes?: number;
  /** Chooses which requests to the tables are harmed. */
  readonly random?: () => number;
  /** Hears what functions and queues say, beside the log in `dist`. */
  readonly onLine?: (line: string) => void;
}

/** Describes what is played on a local stack of its own. */
export function locally({ name, incident, play, ...options }: LocalDescription): Description {
  const { minutes = usualMinutes, random = Math.random, onLine } = options;
  return {
    name,
    incident,
    play: async (interrupted) => {
      console.log(`         (a minute of CloudWatch lasts ${minuteMs / 1_000} s here)`);
      const ending = new AbortController();
      const endMs = performance.now() + minutes * 60_000;
      const limit = AbortSignal.timeout(minutes * 60_000 + verdictMs);
      const signal = AbortSignal.any([interrupted, ending.signal, limit]);
      mkdirSync(dist, { recursive: true });
      const log = createWriteStream(join(dist, `trial-${name}.log`));
      const note = (line: string) => {
        log.write(`${line}\n`);
        onLine?.(line);
      };
      try {
        return await onHarmedStack(name, { note, random, signal }, async (parts) => {
          const trial = new LocalTrial({ ...parts, ...placeOf(parts.stack, signal), endMs });
          try {
            await play(trial);
            const alarms = trial.rang.size === 0 ? '' : `; ${[...trial.rang].join(' and ')} rang`;
            return `${shownVerdict(trial.verdict)}${alarms}`;
          } finally {
            ending.abort();
          }
        });
      } finally {
        log.end();
      }
    },
  };
}

function placeOf({ addresses }: RunningStack, signal: AbortSignal): Omit<Place, 'endMs'> {
  return { platformUrl: addresses.platformUrl, logIn: (user) => logIn(addresses, user, signal), signal };
}

interface Surroundings {
  readonly note: (line: string) => void;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

type Parts = Omit<Given, keyof Place>;

/** Starts tables that can be in trouble, a stack on them, and what looks at it; ends all of it afterwards. */
async function onHarmedStack<T>(
  name: string,
  { note, random, signal }: Surroundings,
  use: (parts: Parts) => Promise<T>,
): Promise<T> {
  const chosen = chosenDynamoDb({ ...process.env, DATA: '', AWS_ENDPOINT_URL_DYNAMODB: '' });
  if ('endpoint' in chosen) throw new CommandError('a server that runs already is not harmed', 1);
  const measuring = new Measuring();
  const tables = await startDynamoDb(chosen.engine, { signal });
  const store = await startTroubledStore(tables.endpoint, random);
  const own = {
    ...{ name, built: true, needsWebhooks: true, dynamodb: { endpoint: store.endpoint }, sqsEndpoint: undefined },
    ...{ report: (line: string) => note(`stack | ${line}`), signal },
    onLog: (line: FunctionLogLine) => {
      note(`${line.functionName} | ${line.text}`);
      measuring.hear(line);
    },
  };
  try {
    return await onOwnStack(own, async (stack) => {
      const withdraw = noteLocalStack({ pid: process.pid, ...stack.addresses });
      const minute = () => pause(minuteMs, undefined, { signal }).catch(() => undefined);
      const watching = measuring.watchQueues(stack.addresses, signal, minute);
      watching.catch(() => undefined);
      const queues = stackQueues(stack);
      const events = await receiveEvents(stack.addresses.webhookReceiverPort);
      const outputDirectory = templateFolder(name);
      try {
        return await use({
          ...{ stack, tablesEndpoint: tables.endpoint, store, queues, events, measuring, outputDirectory },
        });
      } finally {
        await watching.catch(() => undefined);
        await events.stop();
        queues.close();
        withdraw();
      }
    });
  } finally {
    await store.stop();
    await tables.stop();
  }
}
