import { lotAt } from '../../lib/messages/dispatch/lots.ts';
import { lost, placeInSlice, type Recorded, sliceOf } from '../../lib/messages/dispatch/slice.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { foldReceipts } from '../../lib/messages/receipts/fold-receipts.ts';
import { reportedOutcome } from '../../lib/messages/receipts/reported-state.ts';
import { outcomeOf } from '../../lib/messages/report/outcome.ts';
import { erased, optedOut } from '../../lib/messages/send/excluded-recipients.ts';
import { scopesOf, textOf } from '../../lib/opt-outs/scope.ts';
import type { EventType } from '../../lib/webhooks/event.ts';
import type { PlatformPost } from './platform-model.ts';
import type { PipelineWorld } from './world.ts';

/** A message may take so long from the decision to send until it reaches the platform, in a world with slow calls. */
const underWayMs = 5_000;
/** A message may take so long from the claim until it reaches the platform, on a slow number. */
const claimedMs = 20_000;

/** The clock of a run may differ so much from that of the world. */
const skewMs = 50;

/** A message may end with these codes in worlds whose platform refuses as `platform-model.ts` says. */
const reasons: Readonly<Record<string, readonly string[]>> = {
  failed: ['131047', '131050', '132001', '132016', 'cancelled', 'retry_deadline', optedOut.code, erased.code],
  expired: [
    'expired',
    'template_paused',
    'template_in_review',
    '131042',
    '133010',
    '131048',
    '368',
    '131000',
    'no_answer',
    'http_500',
  ],
  unknown: ['no_answer', 'http_500', '131000', lost.code],
};

/** Checks every promise in a world at rest; throws with the first that are broken. */
export function checkWorld(world: PipelineWorld): void {
  const tellings = new Set([...world.told.values()].map(({ type, data }) => tellingOf(type, data)));
  const posts = Map.groupBy(world.platform.posts, ({ messageId }) => messageId);
  const calls = Map.groupBy(world.calls, ({ messageId }) => messageId);
  const broken = world.accepted.flatMap((message) =>
    brokenPromises({
      ...{ ...message, world, tellings },
      to: message.dispatch.recipients[indexOf(message)]?.to ?? '',
      posts: posts.get(message.messageId) ?? [],
      calls: calls.get(message.messageId) ?? [],
    }),
  );
  const waiting = [...world.backlog.entries.keys(), ...world.backlog.later.keys()];
  if (waiting.length > 0) broken.push(`R14: in the backlog for ever: ${waiting}`);
  if (broken.length > 0) throw new Error(broken.slice(0, 5).join('\n'));
}

function indexOf({ messageId }: { readonly messageId: string }): number {
  return Number(messageId.slice(messageId.lastIndexOf('-') + 1));
}

function tellingOf(
  type: EventType,
  data: { readonly dispatch_id?: unknown; readonly message_id?: unknown } | object,
): string {
  const { dispatch_id: dispatchId, message_id: messageId = dispatchId } = data as {
    dispatch_id?: unknown;
    message_id?: unknown;
  };
  return `${type} ${messageId}`;
}

interface Message {
  readonly world: PipelineWorld;
  readonly messageId: string;
  readonly dispatch: WholeDispatch;
  readonly tellings: ReadonlySet<string>;
  readonly to: string;
  /** The `posts` reached the platform, and the `calls` were begun. */
  readonly posts: readonly PlatformPost[];
  readonly calls: PipelineWorld['calls'];
}

function brokenPromises(message: Message): string[] {
  const { world, messageId, dispatch } = message;
  const { dispatchId } = dispatch.head;
  const answer = world.answers.get(dispatchId);
  const hasBegun = world.table.heads.has(dispatchId);
  const unsent = answer === 'refused' || !hasBegun ? refusedAndSent(message) : [];
  if (answer === 'refused' && hasBegun) unsent.push(`D25: ${dispatchId} was refused and has begun`);
  if (!hasBegun) {
    const isLost = answer === 'accepted' && world.deadLetters === 0;
    return isLost ? [...unsent, `R14: ${messageId} was accepted and has vanished`] : unsent;
  }
  const index = indexOf(message);
  const slice = world.table.find(sliceOf({ dispatchId, index }));
  const recorded = slice?.outcomes[placeInSlice(index)];
  return [
    ...unsent,
    ...brokenBySending(message),
    ...brokenByTime(message, index),
    ...brokenByStop(message, recorded),
    ...brokenByErasure(message, recorded),
    ...brokenByReport(message, index),
    ...untold(message, recorded),
  ];
}

function brokenBySending({ world, messageId, dispatch, posts }: Message): string[] {
  const broken: string[] = [];
  const { dispatchId, expiresAtMs } = dispatch.head;
  const { stop } = world.table.states.get(dispatchId) ?? {};
  const taken = posts.filter((post) => post.taken);
  if (taken.length > 1) broken.push(`R13: ${messageId} was taken ${taken.length} times`);
  if (expiresAtMs !== undefined && posts.some(({ atMs }) => atMs > expiresAtMs + underWayMs)) {
    broken.push(`D27: ${messageId} was sent after its time`);
  }
  if (stop !== undefined && posts.some(({ atMs }) => atMs > stop.atMs + claimedMs)) {
    broken.push(`D53: ${messageId} was sent after its dispatch was cancelled`);
  }
  return broken;
}

/** No call may begin outside the openings of its recipient. */
function brokenByTime({ messageId, dispatch: { lots }, calls }: Message, index: number): string[] {
  if (lots === undefined) return [];
  const { open } = lotAt(lots, index);
  const isOpen = (atMs: number) => open.some(([fromMs, untilMs]) => fromMs - skewMs <= atMs && atMs < untilMs + skewMs);
  return calls.every(({ atMs }) => isOpen(atMs)) ? [] : [`D56: ${messageId} was called outside of its time`];
}

/**
 * A stored stop must keep later calls away. A recipient may be left out only for a stop, and only from a dispatch that
 * heeds them.
 */
function brokenByStop({ world, messageId, dispatch, to, calls }: Message, recorded: Recorded | undefined): string[] {
  const scopes: readonly string[] = scopesOf(dispatch.head);
  const stops = dispatch.head.heedsOptOuts
    ? world.stops.filter(({ scope, recipient }) => recipient === to && scopes.includes(textOf(scope)))
    : [];
  const storedAt = Math.min(...stops.map((stop) => stop.storedAt ?? Number.POSITIVE_INFINITY));
  const isLeftOut = recorded?.state === 'failed' && recorded.code === optedOut.code;
  return [
    ...(calls.some((call) => call.claimedAt > storedAt)
      ? [`D55: ${messageId} was called after a stop was stored`]
      : []),
    ...(isLeftOut && stops.length === 0 ? [`D55: ${messageId} was left out, and its person has not stopped`] : []),
  ];
}

/** Who is erased is called no more, and only who is erased ends so (D60). */
function brokenByErasure({ world, messageId, calls }: Message, recorded: Recorded | undefined): string[] {
  const erasedAt = world.erasures.get(messageId);
  const isCalled = calls.some((call) => call.claimedAt > (erasedAt ?? Number.POSITIVE_INFINITY));
  const isLeftOut = recorded?.state === 'failed' && recorded.code === erased.code;
  return [
    ...(isCalled ? [`D60: ${messageId} was called after its recipient was erased`] : []),
    ...(isLeftOut && erasedAt === undefined ? [`D60: ${messageId} was left out, and its person is not erased`] : []),
  ];
}

/** The state in the client's report must agree with what the platform took. */
function brokenByReport({ world, messageId, dispatch, posts }: Message, index: number): string[] {
  const { dispatchId } = dispatch.head;
  const slice = world.table.find(sliceOf({ dispatchId, index }));
  const receipts = world.table.receipts[messageId] ?? [];
  const state = world.table.states.get(dispatchId) ?? {};
  const own = outcomeOf(index, { slice, dispatch: { ...state, lots: dispatch.lots } }, world.time.nowMs);
  const reported = reportedOutcome(own, foldReceipts(receipts)).state;
  const isTaken = posts.some(({ taken }) => taken);
  const broken: string[] = [];
  if (own.state === 'pending' && world.deadLetters === 0) broken.push(`R14: ${messageId} has vanished`);
  if (['sent', 'held', 'delivered', 'read'].includes(reported) && !isTaken) {
    broken.push(`R14: ${messageId} counts as ${reported} and was never taken`);
  }
  if (['failed', 'expired'].includes(reported) && isTaken) {
    broken.push(`R14: ${messageId} counts as ${reported} and was taken`);
  }
  const { [own.state]: allowed } = reasons;
  if (allowed?.includes(own.code ?? '') === false) {
    broken.push(`R14: ${messageId} counts as ${own.state} for no reason (${own.code})`);
  }
  if (own.code === lost.code && world.killedRuns === 0) {
    broken.push(`D29: ${messageId} counts as lost with its worker, and no worker died`);
  }
  return broken;
}

/** Each ending but success is told (D34), a later success is told (D39), and so is the end of the dispatch (D41). */
function untold({ world, messageId, dispatch, tellings }: Message, recorded: Recorded | undefined): string[] {
  if (world.deadLetters > 0) return [];
  const wanted = [`dispatch.completed ${dispatch.head.dispatchId}`];
  const isProven = world.table.receipts[messageId] !== undefined;
  const state = recorded?.state === 'unknown' && isProven ? 'sent' : recorded?.state;
  if (state === 'failed' || state === 'expired' || state === 'unknown') wanted.push(`message.${state} ${messageId}`);
  if (state === 'sent' && tellings.has(`message.unknown ${messageId}`)) wanted.push(`message.resolved ${messageId}`);
  return wanted.filter((telling) => !tellings.has(telling)).map((telling) => `D34: not told: ${telling}`);
}

/** A refused or unaccepted message must be neither sent nor told. */
function refusedAndSent({ messageId, dispatch, tellings, posts }: Message): string[] {
  const isPosted = posts.length > 0;
  const isTold = [...tellings].some(
    (telling) => telling.endsWith(` ${messageId}`) || telling.endsWith(dispatch.head.dispatchId),
  );
  return [
    ...(isPosted ? [`D25: ${messageId} was refused and sent`] : []),
    ...(isTold ? [`D25: ${messageId} was refused and is told of`] : []),
  ];
}
