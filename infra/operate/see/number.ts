import { randomUUID } from 'node:crypto';
import type { Did } from '../../../lib/access/directory.ts';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { tableOf } from '../../../lib/aws/table.ts';
import type { ListedChannel, LiveValues } from '../../../lib/channels/channel.ts';
import { channelStore } from '../../../lib/channels/channel-store.ts';
import { platformNumbers } from '../../../lib/channels/platform-numbers.ts';
import { withCap } from '../../../lib/messages/pace/known-pace.ts';
import { type KnownPaces, knownPaceStore } from '../../../lib/messages/pace/known-pace-store.ts';
import { limitPerSecondOf } from '../../../lib/messages/pace/number-limit.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import { isNotAllowed } from '../aws-failure.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  commandLine,
  helpOption,
  jsonOption,
  stageOption,
} from '../command.ts';
import { helpOf } from '../help.ts';
import { auditOf, type OperatorAudit } from '../operator-audit.ts';
import { readCredentials } from '../stored-credentials.ts';
import { platformOf, type Target, targetOf } from '../target.ts';
import { timeSpanMs } from '../time-span.ts';
import { type BacklogOfNumber, backlogOfNumber } from './number-backlog.ts';
import { type LimitOfNumber, type NumberFacts, numberAsJson, numberAsLines } from './number-output.ts';
import { type HoldOfWaba, kindAndName, type OpenHold, type OpenHolds, openHolds } from './open-holds.ts';

const longestCapMs = 7 * 86_400_000;

const options = {
  limit: {
    type: 'string',
    value: 'N',
    about:
      'sends no more than N messages a second for a while, or with none ends that now; a lower limit of the platform counts',
  },
  for: { type: 'string', value: 'TIME', about: 'how long, such as 30m, 4h or 2d (7d at most); it ends by itself then' },
  json: jsonOption,
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['number DID', 'number DID --limit N --for TIME', 'number DID --limit none'],
  about: `What a number may send, does send and waits for: its limit, the pace of this moment, who may send from it, its
sender and its backlog, what each dispatch of it waits for, what is held, and what the platform says of the number when
it is asked now. A change counts within a second.`,
  options,
};

export interface NumberStage {
  readonly findDid: (did: string) => Promise<Did | undefined>;
  readonly findNumber: (wabaId: string, phoneNumberId: string) => Promise<ListedChannel | undefined>;
  readonly paces: KnownPaces;
  readonly backlog: BacklogOfNumber;
  readonly holds: Pick<OpenHolds, 'list'>;
  /** Asks the platform; undefined for an unlisted number. Throws `PlatformFailure`. */
  readonly ask: (did: Did) => Promise<LiveValues | undefined>;
  readonly audit: OperatorAudit;
  readonly nowMs: () => number;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for an unknown DID, or a cap without
 * effect.
 */
export async function numberCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => NumberStage | Promise<NumberStage>,
  print: (line: string) => void,
): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  const [did, ...surplus] = positionals;
  if (did === undefined || surplus.length > 0) throw new CommandError(helpOf(words));
  const cap = capWanted(values);
  const stage = await open(values.stage);
  const found = await stage.findDid(did);
  if (found === undefined) throw new CommandError(`There is no DID ${did}: infra/ops provision makes one.`, 1);
  const number = await limitOf(found, stage);
  if (cap !== undefined) {
    const { wabaId, phoneNumberId } = found.channel;
    refuseEmptyCap(cap, number);
    const how = cap.perSecond === undefined ? 'none' : `${cap.perSecond} a second for ${values.for}`;
    await stage.audit('command.number_limit', { did, wabaId, how }, () => setCap(cap, phoneNumberId, stage));
  }
  const facts = await factsOf(found, number, stage);
  if (values.json) return print(JSON.stringify(numberAsJson(facts, stage.nowMs()), null, 2));
  for (const line of numberAsLines(facts, values.stage, stage.nowMs())) print(line);
}

interface Cap {
  /** Without a pace, the cap is removed. */
  readonly perSecond?: number;
  readonly forMs: number;
}

function capWanted({ limit, for: time }: { limit?: string | undefined; for?: string | undefined }): Cap | undefined {
  if (limit === undefined) {
    if (time !== undefined) throw new CommandError('--for goes with --limit N');
    return undefined;
  }
  if (limit === 'none') {
    if (time !== undefined) throw new CommandError('--limit none ends the cap now, without --for');
    return { forMs: 0 };
  }
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new CommandError(`--limit takes messages a second, or none, not ${limit}`);
  if (time === undefined) throw new CommandError('--limit N needs --for TIME, such as --for 4h: a cap ends by itself');
  return { perSecond: Number(limit), forMs: durationMs(time) };
}

function durationMs(text: string): number {
  const ms = timeSpanMs(text);
  if (ms !== undefined && ms <= longestCapMs) return ms;
  throw new CommandError(`--for takes a time such as 30m, 4h or 2d, 7d at most, not ${text}`);
}

async function limitOf({ channel }: Did, { findNumber }: NumberStage): Promise<LimitOfNumber> {
  const { wabaId, phoneNumberId, throughputPerSecond } = channel;
  const word = await findNumber(wabaId, phoneNumberId);
  const limitPerSecond = limitPerSecondOf(word, throughputPerSecond);
  if (word?.isOnBizApp === true) return { limitPerSecond, origin: 'for the business app uses the number, too' };
  const level = word?.throughputLevel;
  return { limitPerSecond, origin: level === undefined ? 'as provisioned' : `the platform's level ${level}` };
}

function refuseEmptyCap({ perSecond }: Cap, { limitPerSecond }: LimitOfNumber): void {
  if (perSecond === undefined || perSecond < limitPerSecond) return;
  throw new CommandError(
    `Nothing was changed: the number may send ${limitPerSecond} a second, so a cap must be less, not ${perSecond}.`,
    1,
  );
}

/** Sets the cap by compare-and-set, as every change of a pace, so what senders learn meanwhile is kept. */
async function setCap({ perSecond, forMs }: Cap, phoneNumberId: string, { paces, nowMs }: NumberStage): Promise<void> {
  await paces.change(phoneNumberId, (pace) => {
    if (perSecond !== undefined) return withCap(pace, { perSecond, untilMs: nowMs() + forMs });
    return pace.capped === undefined ? pace : withCap(pace, undefined);
  });
}

async function factsOf(did: Did, number: LimitOfNumber, stage: NumberStage): Promise<NumberFacts> {
  const { channel, waba } = did;
  const { phoneNumberId, wabaId } = channel;
  const { limitPerSecond } = number;
  const [pace, platform, holds, backlog] = await Promise.all([
    stage.paces.find(phoneNumberId),
    askedNow(did, stage),
    stage.holds.list([wabaId]),
    stage.backlog.of({ phoneNumberId, wabaId, limitPerSecond }),
  ]);
  return {
    ...{ channel, number, pace, platform, backlog },
    clients: waba.dids === 'own' ? [channel.clientId] : waba.clientIds,
    holds: holds.filter((hold) => concerns(hold, channel.phoneNumberId)),
  };
}

function concerns(hold: OpenHold, phoneNumberId: string): boolean {
  if (hold.scope === 'platform') return true;
  const { kind, name } = kindAndName((hold as HoldOfWaba).scope);
  const isOfNumber = kind === 'number' || kind === 'marketing' || kind === 'edge';
  return !isOfNumber || name === phoneNumberId;
}

/** Asks the platform; a failure is a fact as well. Without the right to read the token it cannot be asked. */
async function askedNow(did: Did, { ask }: NumberStage): Promise<NumberFacts['platform']> {
  try {
    return (await ask(did)) ?? 'does not list this number under its WABA';
  } catch (error) {
    if (!(error instanceof PlatformFailure) && !isNotAllowed(error)) throw error;
    return `could not be asked: ${(error as Error).message}`;
  }
}

/** Opens the stage of a target. It calls the platform with the credential of the number's WABA. */
export function numberStage(
  target: Target,
  call: PlatformTransport,
  { nowMs, audit }: { readonly nowMs: () => number; readonly audit: OperatorAudit },
): NumberStage {
  const { documentClient: client, tableName } = target;
  const messages = tableOf(client, tableName('messages'), { nowMs });
  return {
    findDid: directoryStore(client, tableName('directory')).findDid,
    findNumber: channelStore(client, tableName('channels')).findNumber,
    paces: knownPaceStore(messages, { newWriter: randomUUID }),
    backlog: backlogOfNumber(messages),
    holds: openHolds(messages),
    ask: (did) => liveValuesOf(did, target, call),
    audit,
    nowMs,
  };
}

async function liveValuesOf(
  { channel, waba }: Did,
  target: Target,
  call: PlatformTransport,
): Promise<LiveValues | undefined> {
  const { credentials } = await readCredentials(target);
  const numbers = platformNumbers(call, async (name) => {
    const credential = credentials[name];
    if (credential !== undefined) return credential;
    throw new PlatformFailure('not_sent', { cause: new Error(`there is no credential ${name}`) });
  });
  for (let after: string | undefined; ; ) {
    const page = await numbers.page({ wabaId: channel.wabaId, credential: waba.credential }, after);
    const found = page.numbers.find(({ phoneNumberId }) => phoneNumberId === channel.phoneNumberId);
    if (found !== undefined || page.after === undefined) return found?.live;
    after = page.after;
  }
}

export const command: Command = { words, run: (typed) => numberCommand(typed, openStage, console.log) };

async function openStage(stage: string | undefined): Promise<NumberStage> {
  const target = await targetOf(stage);
  return numberStage(target, platformOf(stage), { nowMs: Date.now, audit: auditOf(target, stage) });
}
