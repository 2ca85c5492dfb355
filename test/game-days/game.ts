import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { call, type DemoClient, logIn } from '../../infra/local/demo/client.ts';
import { watched } from '../../infra/local/demo/watching.ts';
import type { FunctionLogLine } from '../../infra/local/instance.ts';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { noteLocalStack } from '../../infra/operate/local-stacks.ts';
import { countsOf, type Dispatch, type StateCounts, takenAt, toldOf } from '../faults/running/campaign.ts';
import { onOwnStack, templateFolder } from '../proof/own-stack.ts';
import { alarmLine } from '../support/alarm-states.ts';
import { auditOf, type SendAudit, shownAudit, shownCounts, soundAudit } from '../support/send-audit.ts';
import { alarmOf, type LoggedEvent, Measuring, minuteMs } from './measuring.ts';
import { operated } from './operating.ts';
import { bookMeaning } from './run-book.ts';

const dist = join(import.meta.dirname, '../../dist');
const everyMs = 500;
/** Other work may keep the machine busy. */
const quietLimitMs = 4 * 60_000;
/** A game day that has not ended by then has failed. */
const longestMs = 15 * 60_000;

export const demoUser = 'supervisor1001';
export const demoNumberId = '300000000000001';
export const demoWabaId = '200000000000001';

interface Incident {
  readonly name: string;
  /** One sentence says what goes wrong. */
  readonly incident: string;
}

interface LocalGameDay extends Incident {
  readonly play: (game: Game) => Promise<void>;
}

/** The incident needs more of AWS than a local stack has. Returns the line of the game day. */
interface OtherGameDay extends Incident {
  readonly rehearse: (signal: AbortSignal) => Promise<string>;
}

export type GameDay = LocalGameDay | OtherGameDay;

type Part = 'calm' | 'trouble' | 'told' | 'end' | 'proof';

export function tellPart(part: Part, line: string): void {
  console.log(`${`${part}:`.padEnd(9)}${line.replaceAll('\n', `\n${' '.repeat(9)}`)}`);
}

interface Watch<Seen> {
  readonly look: () => Seen | Promise<Seen>;
  readonly isSo: (seen: Seen) => boolean;
  readonly signal: AbortSignal;
}

/** Polls twice a second until it is so. Throws when nothing has changed for minutes. */
export async function untilSo<Seen>(what: string, { look, isSo, signal }: Watch<Seen>): Promise<Seen> {
  const seen = await watched({
    ...{ look: async () => look(), isOver: isSo, sign: (all: Seen) => all },
    ...{ everyMs, quietLimitMs, signal },
  });
  if (!isSo(seen)) throw new Error(`waited in vain until ${what}; seen last: ${JSON.stringify(seen)}`);
  return seen;
}

/**
 * Each game has a stack of its own, and what an incident takes: a campaign, the platform's control calls, alarms,
 * operator commands.
 */
export class Game {
  readonly stack: RunningStack;
  readonly signal: AbortSignal;
  readonly dispatches: Dispatch[] = [];
  /** An alarm rang for each of these purposes. */
  readonly rang = new Set<string>();
  /** It is undefined until `proven` has compared. */
  audit: SendAudit | undefined;
  readonly #measuring: Measuring;
  readonly #outputDirectory: string;

  constructor(
    stack: RunningStack,
    given: { readonly signal: AbortSignal; readonly measuring: Measuring; readonly outputDirectory: string },
  ) {
    this.stack = stack;
    this.signal = given.signal;
    this.#measuring = given.measuring;
    this.#outputDirectory = given.outputDirectory;
  }

  tell(part: Part, line: string): void {
    tellPart(part, line);
  }

  /** Calls the control interface of the simulated platform. */
  async platform(route: string, body?: unknown): Promise<unknown> {
    const { json } = await call({ baseUrl: this.stack.addresses.platformUrl, route, body, signal: this.signal });
    return json;
  }

  logIn(user: string = demoUser): Promise<DemoClient> {
    return logIn(this.stack.addresses, user, this.signal);
  }

  /** Sends the demo template to people of its own; other options as of `DemoClient.send`. */
  async send(client: DemoClient, recipients: number): Promise<Dispatch> {
    const people = audience(recipients, this.dispatches.length);
    const dispatchId = await client.send({ did: demoDid, template: orderUpdate, recipients: people });
    const dispatch = { client, clientId: 1001, did: demoDid, dispatchId, total: recipients };
    this.dispatches.push(dispatch);
    this.tell('calm', `${recipients} recipients accepted, dispatch ${dispatchId}`);
    return dispatch;
  }

  async taken(): Promise<number> {
    return (await takenAt(this.stack.addresses.platformUrl, this.signal)).length;
  }

  /** Counts from now on what the platform takes. */
  takenSince(): () => Promise<number> {
    const before = this.taken();
    return async () => (await this.taken()) - (await before);
  }

  counts(): Promise<StateCounts | undefined> {
    return countsOf(this.dispatches);
  }

  /**
   * Waits until the platform has taken so many. Fails when all have left by then, because the trouble must meet the
   * middle.
   */
  async midway(atLeast: number): Promise<void> {
    const left = await this.until(
      `${atLeast} messages have left`,
      () => this.taken(),
      (taken) => taken >= atLeast,
    );
    const all = this.dispatches.reduce((sum, { total }) => sum + total, 0);
    if (left >= all) throw new Error(`all ${all} had left: that is not the middle of a campaign`);
    this.tell('calm', `${left} of ${all} have left`);
  }

  /** Polls for as long as the game day lasts. */
  until<Seen>(what: string, look: () => Seen | Promise<Seen>, isSo: (seen: Seen) => boolean): Promise<Seen> {
    return untilSo(what, { look, isSo, signal: this.signal });
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
   * Runs a command of an operator against this stack, as a process. Throws when it does not end well. Returns what it
   * printed.
   */
  operate(command: string, input?: string): Promise<string> {
    return this.#run(command, 0, input);
  }

  /** Runs a command that must refuse. */
  refused(command: string, input?: string): Promise<string> {
    return this.#run(command, 1, input);
  }

  /** Runs a command that must only show what it would change. */
  previewed(command: string): Promise<string> {
    return this.#run(command, 3);
  }

  async #run(command: string, wanted: number, input?: string): Promise<string> {
    const port = new URL(this.stack.addresses.apiUrl).port;
    const { status, output } = await operated(command, { port, input, signal: this.signal });
    this.tell('end', `$ ${command}\n${output}`);
    if (status !== wanted) throw new Error(`${command} was to end with status ${wanted}, and ended with ${status}`);
    return output;
  }

  /** Waits for the end of every dispatch, and compares what the platform took with what the reports say. */
  async proven(): Promise<void> {
    const { signal } = this;
    const counts = await this.until(
      'nothing is pending',
      () => this.counts(),
      (all) => all?.pending === 0,
    );
    this.tell('proof', `the reports say ${shownCounts(counts)}`);
    const { platformUrl } = this.stack.addresses;
    const look = async () => auditOf(await toldOf(this.dispatches), await takenAt(platformUrl, signal));
    const audit = await this.until(
      'receipts settle who is unknown',
      look,
      ({ unknownTaken }) => unknownTaken.length === 0,
    );
    soundAudit(audit);
    this.audit = audit;
    this.tell('proof', shownAudit(audit));
  }
}

/**
 * Plays one game day; the functions were built a moment ago. Returns its one line. Throws when it does not end well.
 */
export async function played(day: GameDay, interrupted: AbortSignal): Promise<string> {
  console.log(`\n${day.name}: ${day.incident}`);
  if ('play' in day) return await playedLocally(day, interrupted);
  return await day.rehearse(AbortSignal.any([interrupted, AbortSignal.timeout(longestMs)]));
}

async function playedLocally({ name, play }: LocalGameDay, interrupted: AbortSignal): Promise<string> {
  console.log(`         (a minute of CloudWatch lasts ${minuteMs / 1_000} s here)`);
  const startedMs = performance.now();
  const ending = new AbortController();
  const signal = AbortSignal.any([interrupted, ending.signal, AbortSignal.timeout(longestMs)]);
  const measuring = new Measuring();
  mkdirSync(dist, { recursive: true });
  const log = createWriteStream(join(dist, `game-day-${name}.log`));
  const own = {
    ...{ name: 'game-day', built: true, needsWebhooks: true, sqsEndpoint: undefined, signal },
    dynamodb: chosenDynamoDb({ ...process.env, DATA: '', AWS_ENDPOINT_URL_DYNAMODB: '' }),
    onLog: (line: FunctionLogLine) => {
      log.write(`${line.functionName} | ${line.text}\n`);
      measuring.hear(line);
    },
    report: (line: string) => log.write(`stack | ${line}\n`),
  };
  const game = async (stack: RunningStack) => {
    const withdraw = noteLocalStack({ pid: process.pid, ...stack.addresses });
    const minute = () => pause(minuteMs, undefined, { signal }).catch(() => undefined);
    const watching = measuring.watchQueues(stack.addresses, signal, minute);
    watching.catch(() => undefined);
    const played = new Game(stack, { signal, measuring, outputDirectory: templateFolder(own.name) });
    try {
      await play(played);
      return played;
    } finally {
      ending.abort();
      await watching.catch(() => undefined);
      withdraw();
    }
  };
  try {
    const { audit, rang } = await onOwnStack(own, game);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    if (audit === undefined) throw new Error('nothing was compared');
    const alarms = rang.size === 0 ? '' : `; ${[...rang].join(' and ')} rang`;
    return `${shownAudit(audit)}${alarms}; ${seconds} s`;
  } finally {
    log.end();
  }
}
