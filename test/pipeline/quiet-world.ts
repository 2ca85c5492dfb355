import type { DispatchHead } from '../../lib/messages/dispatch/head.ts';
import { seededRandom } from '../support/faults.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { PipelineWorld, type WorldRules } from './world.ts';

export const limitPerSecond = 80;
export const workers = 50;

/** No fault happens. Calls take as long as in a region, and queue delays end up to a second late. */
export function quietRules(changes: Partial<WorldRules> = {}): WorldRules {
  const random = seededRandom(1);
  return {
    random,
    limitPerSecond,
    answerMs: () => 60 + random() * 60,
    latencyMs: () => 2 + random() * 2,
    faultOf: () => undefined,
    fateOf: () => 'taken',
    lifeMs: () => undefined,
    receiptsOf: () => [],
    delayJitterMs: 1_000,
    repeatShare: 0,
    clockSkewMs: () => 0,
    workers,
    ...changes,
  };
}

/** Makes a world without other faults than the given ones. */
export function quietWorld(changes: Partial<WorldRules> = {}): PipelineWorld {
  return new PipelineWorld(quietRules(changes));
}

let dispatches = 0;

/** Accepts a dispatch of so many different recipients now. `addressOf` changes how a number is addressed. */
export function accept(
  world: PipelineWorld,
  size: number,
  {
    addressOf = (number) => number,
    ...head
  }: Partial<Pick<DispatchHead, 'clientId' | 'wabaId' | 'phoneNumberId' | 'urgent' | 'when' | 'templateName'>> & {
    readonly addressOf?: (number: string) => string;
  } = {},
): string {
  dispatches += 1;
  const dispatchId = `01JD${String(dispatches).padStart(22, '0')}`;
  const recipients = Array.from({ length: size }, (_, at) => ({
    to: addressOf(String(5_491_100_000_000 + dispatches * 100_000 + at)),
    params: { buttons: ['order'] },
  }));
  world.accept(makeDispatch(recipients, { dispatchId, clientId: 1_001, acceptedAtMs: world.time.nowMs, ...head }));
  return dispatchId;
}

/** `before` loads the world before codes come, and `head` says where they go. */
export interface CodesBeside {
  readonly before?: (world: PipelineWorld) => void;
  readonly rules?: Partial<WorldRules>;
  readonly head?: Partial<Pick<DispatchHead, 'wabaId' | 'phoneNumberId'>>;
}

/** Messages of this number get no answer, although reads do. The codes belong to another client and another WABA. */
export const silent = { clientId: 7, wabaId: '200000000000009', phoneNumberId: '300000000000009' };
export const besideSilence: CodesBeside = {
  rules: {
    fateOf: ({ phoneNumberId }) => (phoneNumberId === silent.phoneNumberId ? 'lost' : 'taken'),
    readFateOf: () => 'taken',
  },
};

/** Sends single messages to a silent number for fifty seconds, by default twenty a second. */
export function singleSends(
  world: PipelineWorld,
  { everyMs = 50, ...head }: { readonly everyMs?: number; readonly urgent?: true } = {},
): void {
  const comeIn = async () => {
    for (let at = 0; at < 50_000 / everyMs; at += 1) {
      await world.time.sleep(everyMs);
      accept(world, 1, { ...silent, ...head });
    }
  };
  void comeIn();
}

/**
 * Returns how long each of 200 codes waits for its call, one in a fifth of a second; infinity where a call never comes.
 */
export async function codeWaitsMs({ before, rules, head }: CodesBeside = {}): Promise<number[]> {
  const world = quietWorld({ workers: 200, ...rules });
  before?.(world);
  const codes: { readonly dispatchId: string; readonly atMs: number }[] = [];
  const comeIn = async () => {
    for (let at = 0; at < 200; at += 1) {
      await world.time.sleep(150 + ((at * 37) % 100));
      codes.push({ dispatchId: accept(world, 1, { clientId: 900, urgent: true, ...head }), atMs: world.time.nowMs });
    }
  };
  void comeIn();
  await world.run(70_000);
  const firstMs = new Map<string, number>();
  for (const { messageId, atMs } of world.platform.posts) {
    const dispatchId = messageId.slice(0, messageId.lastIndexOf('-'));
    if (!firstMs.has(dispatchId)) firstMs.set(dispatchId, atMs);
  }
  return codes.map(({ dispatchId, atMs }) => (firstMs.get(dispatchId) ?? Number.POSITIVE_INFINITY) - atMs);
}

export function p99Of(waitsMs: readonly number[]): number {
  const inOrder = waitsMs.toSorted((one, other) => one - other);
  return inOrder[Math.floor(0.99 * inOrder.length)] ?? Number.POSITIVE_INFINITY;
}
