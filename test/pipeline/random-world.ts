import type { Recipient } from '../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../lib/messages/dispatch/item-state.ts';
import { inReviewCode, opened } from '../../lib/messages/holds/hold.ts';
import { templateScope } from '../../lib/messages/holds/scope.ts';
import type { Scope } from '../../lib/opt-outs/scope.ts';
import { seededRandom } from '../support/faults.ts';
import { makeDispatch, makeDispatchHead, makeRecipients } from '../support/made-dispatches.ts';
import type { Fate } from './platform-model.ts';
import type { CallFault } from './runs.ts';
import { PipelineWorld, type WorldRules } from './world.ts';
import { startsOf } from './world-parts.ts';

const callFaults: readonly CallFault[] = ['fails', 'reply_lost', 'lands_late', 'repeated', 'times_out'];
const fates: readonly Fate[] = [
  ...(['taken_reply_lost', 'lost', 'server_error', 'no_connection'] as const),
  ...(['refused', 'refused_for_now', 'calls_used_up', 'credential_refused', 'template_syncing'] as const),
  'stopped_there',
];
/** These answers to one message hold back all others of its template, its number or its WABA. */
const holdingFates: readonly Fate[] = [
  ...(['template_paused', 'template_paused', 'template_in_review', 'template_disabled'] as const),
  ...(['cannot_pay', 'not_registered', 'spam_limit'] as const),
];

/** In every world acceptance fails to hand over some requests. */
const acceptanceFaultShare: Readonly<Record<string, number>> = {
  enqueueStraight: 0.3,
  store: 0.1,
  beginAccepted: 0.1,
  wakeAccepted: 0.1,
};
/** A sender lives a hundred seconds, and may die in each of them. */
const senderLifeMs = 100_000;
const senderDeathShare = 0.15;
/** A renewal may take so long that another run takes the lease, and both send. */
const lostLeaseShare = 0.01;
const lostLeaseMs = 35_000;
/** A worker of small requests has mostly ended then, and may die under a claim. */
const smallLifeMs = 600;
const smallDeathShare = 0.1;

export function amongOf(random: () => number) {
  return <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
}

/** Returns rules of a world in which any fault may happen at any moment; some worlds are worse than others. */
export function randomRules(random: () => number): WorldRules {
  const among = amongOf(random);
  const callFaultShare = among([0, 0.005, 0.03]);
  const fateShare = among([0, 0.05, 0.2]);
  const holdingShare = among([0, 0, 0, 0.01]);
  const deathShare = among([0, 0.02, 0.15]);
  const skewMs = among([0, 100]);
  return {
    random,
    limitPerSecond: among([5, 20, 80, 1_000]),
    answerMs: () => 20 + random() * 300,
    latencyMs: (name) => {
      if (name === 'changeLease' && random() < lostLeaseShare) return lostLeaseMs;
      return random() < 0.02 ? random() * 3_000 : 1 + random() * 10;
    },
    faultOf: (name) => {
      const share = acceptanceFaultShare[name] ?? callFaultShare;
      return name !== 'send' && random() < share ? among(callFaults) : undefined;
    },
    fateOf: () => {
      if (random() < holdingShare) return among(holdingFates);
      return random() < fateShare ? among(fates) : 'taken';
    },
    lifeMs: (name) => {
      if (name === 'dispatch' && random() < senderDeathShare) return random() * senderLifeMs;
      if (name === 'small' && random() < smallDeathShare) return random() * smallLifeMs;
      return random() < deathShare ? random() * 8_000 : undefined;
    },
    receiptsOf: () => receipts(random),
    templateStatus: () => (random() < 0.5 ? 'PAUSED' : 'APPROVED'),
    delayJitterMs: among([0, 1_000]),
    repeatShare: among([0, 0.05]),
    clockSkewMs: () => (random() - 0.5) * skewMs,
    workers: among([2, 20]),
    ...among([{}, {}, { starts: startsOf(512, 260) }]),
  };
}

/** Makes the world of a seed, with its dispatches, the people who stop, and those whom the operator erases. */
export function randomWorld(seed: number): PipelineWorld {
  const random = seededRandom(seed);
  const among = amongOf(random);
  const world = new PipelineWorld(randomRules(random));
  const stopShare = among([0, 0.05, 0.3]);
  const eraseShare = among([0, 0, 0, 0.02]);
  const dispatches = 1 + Math.floor(random() * 4);
  for (let at = 0; at < dispatches; at += 1) {
    const dispatchId = `01JD${String(at).padStart(22, '0')}`;
    const ttl = random() < 0.2 ? { expiresAtMs: world.time.nowMs + 1_000 + random() * 120_000 } : {};
    // The largest dispatch needs several rounds of its number when that is slow.
    const size = among([1, 1, 3, 3, 3, 10, 12, 12, 12, 40, 40, 40, 75, 75, 260, 600]);
    const clientId = among([1001, 1002]);
    // One-time codes do not heed opt-outs.
    const urgent = random() < 0.3 ? { urgent: true as const } : { heedsOptOuts: true as const };
    const recipients = random() < 0.9 ? makeRecipients(size) : toFewPersons(makeRecipients(size));
    world.accept(makeDispatch(recipients, { dispatchId, clientId, acceptedAtMs: world.time.nowMs, ...ttl, ...urgent }));
    holdBack(world, dispatchId, random);
    for (const index of recipients.keys()) {
      if (random() < eraseShare) void world.recipientErased(dispatchId, index, random() * 60_000);
    }
    for (const { to } of recipients) if (random() < stopShare) stop(world, { to, clientId }, random);
  }
  return world;
}

/** Each person gets more messages than the platform takes at once. */
function toFewPersons(recipients: readonly Recipient[]): Recipient[] {
  return recipients.map((recipient, index) => ({ ...recipient, to: recipients[index % 3]?.to ?? recipient.to }));
}

/** Cancels some dispatches, and holds others with their WABA or template for a while by the platform's word. */
export function holdBack(world: PipelineWorld, dispatchId: string, random: () => number): void {
  const share = random();
  const afterMs = random() * 20_000;
  const atMs = world.time.nowMs + afterMs;
  if (share < 0.15) void world.cancel(dispatchId, cancelled(atMs), afterMs);
  if (share > 0.95) void templateInReview(world, afterMs);
  if (share < 0.85) return;
  const untilMs = atMs + random() * 300_000;
  void world.time.sleep(afterMs).then(() => {
    const { wabaId } = makeDispatchHead();
    return world.holds.change(wabaId, opened('waba', { code: '368', nowMs: world.time.nowMs, untilMs }));
  });
}

/** The template goes into review, which holds it without a call; the watchers' readings say when it is back. */
async function templateInReview(world: PipelineWorld, afterMs: number): Promise<void> {
  await world.time.sleep(afterMs);
  const { wabaId, templateName, templateLanguage } = makeDispatchHead();
  const reason = { code: inReviewCode, nowMs: world.time.nowMs, byReading: true } as const;
  await world.holds.change(wabaId, opened(templateScope({ templateName, templateLanguage }), reason));
}

/** A person stops at any moment, for a client, a number or a whole WABA. Some stops do not concern the senders. */
function stop(
  world: PipelineWorld,
  { to, clientId }: { readonly to: string; readonly clientId: number },
  random: () => number,
): void {
  const { wabaId, phoneNumberId } = makeDispatchHead();
  const scopes: readonly Scope[] = [
    { kind: 'client', clientId },
    { kind: 'client', clientId: 1003 },
    { kind: 'number', wabaId, phoneNumberId },
    { kind: 'number', wabaId, phoneNumberId: 'another' },
    { kind: 'waba', wabaId },
  ];
  const scope = scopes[Math.floor(random() * scopes.length)] as Scope;
  void world.personStops({ scope, recipient: to }, random() * (random() < 0.5 ? 1_000 : 60_000));
}

/** The platform's receipts for a message, if any, come in any order, twice or late. */
function receipts(random: () => number): { status: string; afterMs: number }[] {
  if (random() < 0.3) return [];
  const told = ['sent', 'delivered', 'read'].slice(0, 1 + Math.floor(random() * 3));
  const again = random() < 0.2 ? told : [];
  return [...told, ...again].map((status) => ({
    status,
    afterMs: random() < 0.1 ? random() * 600_000 : random() * 5_000,
  }));
}
