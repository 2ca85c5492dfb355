import { Webhook } from 'standardwebhooks';
import { leaseMs } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { payloadOf } from '../../../../lib/webhooks/delivery/pending.ts';
import type { Post } from '../../../../lib/webhooks/delivery/post-network.ts';
import { deliveryLimitMs, maxAttempts } from '../../../../lib/webhooks/delivery/retry.ts';
import { eventId, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import type { Call } from '../../../support/replayed-run.ts';
import {
  type CallName,
  clientIn,
  clientOf,
  effectOf,
  eventIn,
  type Run,
  secretOf,
  standingOf,
  urlOf,
} from './delivery-model.ts';
import { acknowledged, visibilityMs, type World, withReply, withRunOf } from './delivery-space.ts';

/** An event had come this far before. */
export interface Told {
  readonly event: ServiceEvent;
  readonly attempts: number;
  readonly firstSeenMs: number;
}

const retriedMs = 27 * 3_600_000;

const toldAfterMs = 15 * 60_000;

/** Throws when a promise is broken now, or would be once faults end. `failedBefore` is the first world's count. */
export async function checkPromises(
  world: World,
  explored: readonly Told[],
  { failedBefore, faults }: { readonly failedBefore: number; readonly faults: number },
): Promise<void> {
  checkFailings(world, failedBefore);
  const told = [...explored, ...toldOfFailing(world)];
  for (const run of world.runs) await checkRun(world, run, told);
  await checkHolders(world);
  for (const each of told) {
    if (!isWaiting(world, each) && !hasEnded(world, each)) throw new Error(`D34: event ${each.event.id} is dropped`);
  }
  if (world.runs.length > 0 || world.late.length > 0) return;
  for (const [clientId, { version, active }] of Object.entries(world.configs)) {
    const isGone = world.gone.includes(urlOf(Number(clientId), version - 1));
    if (!active && !isGone) throw new Error(`D34: client ${clientId} is switched off, and its receiver is there`);
  }
  for (const each of told) {
    const { clientId, id } = each.event;
    const isWoken = world.messages.some(({ body }) => clientIn(body) === clientId);
    if (!isWoken && isListed(world.list, id) && !hasEnded(world, each))
      throw new Error('D34: what waits is not looked at');
  }
  checkRestart(world, told, world.faultsLeft < faults ? visibilityMs : 0);
  await checkNextFailure(world);
  await checkAfterwards(world, told, () => false);
  const dead = told.some(({ event }) => event.clientId !== 1) ? 1 : undefined;
  if (dead !== undefined) await checkAfterwards(world, told, (clientId) => clientId === dead);
}

/** A long run of failures is told by exactly one event, whatever breaks, and a short one by none. */
function checkFailings({ failings, states, had, nowMs }: World, failedBefore: number): void {
  for (const { id, clientId, timestampMs, data } of failings) {
    const sinceMs = Date.parse(data.since);
    const posts = failedBefore + postsIn(had);
    if (id !== eventId('webhook.failing', clientId, [sinceMs])) throw new Error('D34: an id is not of its run');
    if (posts < 3 || timestampMs !== sinceMs + toldAfterMs || timestampMs > nowMs)
      throw new Error('D34: a short run of failures is told');
  }
  if (new Set(failings.map(({ id }) => id)).size < failings.length)
    throw new Error('D34: two events tell of one run of failures');
  for (const { notifiedFailingSinceMs } of Object.values(states)) {
    if (notifiedFailingSinceMs !== undefined && !isTold(failings, notifiedFailingSinceMs))
      throw new Error('D34: noted as told before it was stored');
  }
}

function postsIn(had: World['had']): number {
  return Object.values(had).reduce((sum, { posts }) => sum + posts, 0);
}

function isTold(failings: World['failings'], sinceMs: number): boolean {
  return failings.some(({ data }) => Date.parse(data.since) === sinceMs);
}

/**
 * After a PUT what waits is posted at once, whatever failed before: until the first post under the new configuration
 * there is a wake for now. A run that dies gives its wake back late.
 */
function checkRestart(world: World, told: readonly Told[], lateMs: number): void {
  const { messages, list, had, configs, nowMs, owesWake } = world;
  const { version = 1, active = false } = configs[1] ?? {};
  const isTried = Object.values(had).some((each) => each.version === version);
  const waits = told.some(
    (each) => each.event.clientId === 1 && isListed(list, each.event.id) && !hasEnded(world, each),
  );
  if (version === 1 || !active || owesWake || isTried || !waits) return;
  const isWoken = messages.some(({ body, visibleAtMs }) => clientIn(body) === 1 && visibleAtMs <= nowMs + lateMs);
  if (!isWoken) throw new Error('D33: after a PUT what waits is not posted at once');
}

/** A run that overtakes another may leave a long run of failures untold; the next failure tells it. */
async function checkNextFailure(world: World): Promise<void> {
  const { failingSinceMs, lastFailureMs = 0, consecutiveFailures = 0 } = world.states[1] ?? {};
  if (failingSinceMs === undefined || consecutiveFailures < 3 || lastFailureMs - failingSinceMs < toldAfterMs) return;
  let next: World = world;
  while (!isTold(next.failings, failingSinceMs) && next.configs[1]?.active && next.messages.length > 0) {
    next = await nextRun(next, () => true);
    const failures = next.states[1]?.consecutiveFailures ?? 0;
    if (failures > consecutiveFailures && !isTold(next.failings, failingSinceMs))
      throw new Error('D34: a long run of failures is not told');
  }
}

/** One that is noted as told is delivered as any other. After a crash before the note the next failure tells it. */
function toldOfFailing({ failings, states }: World): Told[] {
  return failings
    .filter(({ clientId, data }) => states[clientId]?.notifiedFailingSinceMs === Date.parse(data.since))
    .map((event) => ({ event, attempts: 0, firstSeenMs: event.timestampMs }));
}

function isWaiting({ messages, list }: World, { event }: Told): boolean {
  return isListed(list, event.id) || messages.some(({ body }) => eventIn(body)?.id === event.id);
}

function isListed(list: World['list'], eventId: string | undefined): boolean {
  return list.some(({ event }) => event.id === eventId);
}

/** Only one run posts to a client, except runs that have stalled for longer than their lease. */
async function checkHolders({ runs, nowMs }: World): Promise<void> {
  const posting: number[] = [];
  for (const run of runs) {
    if (run.ended !== undefined || run.startedAtMs + leaseMs <= nowMs) continue;
    const { open } = await standingOf(run);
    posting.push(...new Set(open.filter(({ name }) => name === 'post').map(clientOf)));
  }
  if (new Set(posting).size < posting.length) throw new Error('D34: two runs post to one client');
}

/** The receiver took the event, all attempts and time were used up, or the client switched delivery off or is gone. */
function hasEnded({ had, configs, nowMs }: World, { event, attempts, firstSeenMs }: Told): boolean {
  const { taken = false, posts = 0 } = had[event.id] ?? {};
  const isGivenUp = attempts + posts >= maxAttempts && nowMs - firstSeenMs >= retriedMs;
  return taken || isGivenUp || nowMs - firstSeenMs >= deliveryLimitMs || !configs[event.clientId]?.active;
}

async function checkRun(world: World, run: Run, told: readonly Told[]): Promise<void> {
  if (run.ended !== undefined) return;
  const { open } = await standingOf(run);
  for (const call of open) if (call.name === 'post') checkPost(world, run, call, told);
  if (open.some(({ name }) => name === 'record')) return;
  for (const { body } of run.messages) {
    const event = eventIn(body);
    if (event === undefined) continue;
    const { clientId, id: eventId } = event;
    const isAtIt = open.some((call) => clientOf(call) === clientId);
    const isBroken = run.answered.some((answer) => answer.failed && answer.clientId === clientId);
    const isDone = world.had[eventId]?.taken || isListed(world.list, eventId) || !world.configs[clientId]?.active;
    if (!isAtIt && !isBroken && !isDone) throw new Error(`R42: client ${clientId} waits for another's receiver`);
  }
}

function checkPost(
  { recorded, failings, nowMs, configs }: World,
  { startedAtMs }: Run,
  call: Call<CallName>,
  told: readonly Told[],
): void {
  const [clientId, { url, headers, body }] = call.args as [number, Post];
  const id = headers['webhook-id'] ?? '';
  const event = [...told.map((each) => each.event), ...failings].find((each) => each.id === id);
  const versions = Array.from({ length: configs[clientId]?.version ?? 0 }, (_, before) => before + 1);
  if (event?.clientId !== clientId || !versions.some((version) => url === urlOf(clientId, version)))
    throw new Error('R43: posted as another event');
  if (body !== payloadOf(event)) throw new Error('D34: an attempt has a body of its own');
  if (!recorded.includes(id)) throw new Error('D34: posted before it was recorded');
  const seconds = Number(headers['webhook-timestamp']);
  if (seconds * 1_000 < startedAtMs - 1_000 || seconds * 1_000 > nowMs)
    throw new Error('R43: not the time of the attempt');
  const signatures = [1, 2].map((version) => new Webhook(secretOf(version)).sign(id, new Date(seconds * 1_000), body));
  if (!signatures.includes(headers['webhook-signature'] ?? '')) throw new Error('R41: an attempt is not signed');
}

/** Without faults every event is taken in the end, except those of a dead receiver. */
async function checkAfterwards(
  world: World,
  told: readonly Told[],
  isDead: (clientId: number) => boolean,
): Promise<void> {
  let next: World = { ...world, faultsLeft: 0, badAnswersLeft: 0, changesLeft: 0, owesWake: false };
  const isOpen = (each: Told) => !isDead(each.event.clientId) && !hasEnded(next, each);
  for (let turn = 0; told.some(isOpen); turn += 1) {
    if (turn > 20)
      throw new Error(`R42: with ${isDead(1) ? 'one receiver dead' : 'all receivers well'}, events wait for ever`);
    if (next.messages.length === 0) throw new Error('D34: an event is dropped, once nothing fails any more');
    next = await nextRun(next, isDead);
  }
  if (isDead(1)) return;
  // Only wakes and doubles remain in the queue: each must end and send nothing.
  for (let turn = 0; next.messages.length > 0; turn += 1) {
    if (turn > 10) throw new Error('D34: wakes go on for ever');
    next = await nextRun(next, isDead);
  }
}

/** The next run gets all visible messages. */
async function nextRun(world: World, isDead: (clientId: number) => boolean): Promise<World> {
  const nowMs = Math.max(world.nowMs, Math.min(...world.messages.map(({ visibleAtMs }) => visibleAtMs)));
  const due = world.messages.filter(({ visibleAtMs }) => visibleAtMs <= nowMs);
  return await ran(withRunOf({ ...world, nowMs, runsLeft: 1 }, due.slice(0, 10)), isDead);
}

/** Plays one run to its end; a dead receiver answers every post with 500. */
async function ran(world: World, isDead: (clientId: number) => boolean): Promise<World> {
  let next = world;
  let run = next.runs[0] as Run;
  while (run.ended === undefined) {
    const [call] = (await standingOf(run)).open as [Call<CallName>];
    const isRefused = call.name === 'post' && isDead(clientOf(call));
    const { store, value } = isRefused ? { store: next, value: { status: 500 } } : effectOf(next, call, next.nowMs);
    run = await withReply(run, call, { value, atMs: next.nowMs });
    next = store;
  }
  const ids = run.messages.map(({ id }) => id);
  return acknowledged({ ...next, runs: [] }, ids, run.ended);
}
