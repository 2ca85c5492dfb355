import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { written } from '../../support/model/command.ts';
import { type AssignmentKind, changed, type ModelDocument } from '../../support/model/model.ts';
import { anyFaults, type FaultKind, faultOf } from '../../support/model/race-faults.ts';
import { type Service, startPlatform, startService, type TestPlatform } from '../../support/model/service.ts';
import type { ClientId, Pair } from '../../support/model/setting.ts';
import { localDocumentClient } from '../../support/stores.ts';
import { thorough } from '../../support/thorough.ts';

/**
 * Concurrent calls over a DynamoDB that conflicts, throttles and loses replies must end as one of the serial orders
 * would.
 */

const wabaId = '200000000000001';
const did = '5491100000501';
const sharers = [1001, 1002] as const;
const channelsOf = { 1001: [501, 505], 1002: [502, 506], 1003: [503] } as const;
const components = [{ type: 'BODY', text: 'Your order has left our house.' }];

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.stop());

/** Starts a service with an approved, unassigned template of both clients; its clock never returns a time twice. */
async function startRace(faults: readonly FaultKind[]) {
  const client = localDocumentClient();
  let armed = false;
  const attempts = new Map<string, number>();
  injectFaults(client, (operation) => {
    if (!armed) return undefined;
    attempts.set(operation, (attempts.get(operation) ?? 0) + 1);
    return faultOf(faults, operation, attempts.get(operation) ?? 0);
  });
  const service = await startService(platform, { client, nowMs: () => ++platform.clock.nowMs });
  const template = { name: 'welcome', language: 'en_US', category: 'UTILITY', components };
  const { ids } = await platform.control('POST', 'templates', { waba_id: wabaId, templates: [template] });
  await synchronize(service);
  const run = async <T>(calls: readonly (() => Promise<T>)[]) => {
    armed = true;
    const answers = await Promise.all(calls.map((call) => call()));
    armed = false;
    return answers;
  };
  return { service, upstreamId: String(ids[0]), run };
}

async function synchronize(service: Service): Promise<number | undefined> {
  const { status } = await service.asOperator(service.endpoints.sync, 1001, {});
  await service.work(900_000);
  return status;
}

interface Listed {
  readonly id: string;
  readonly active: boolean;
  readonly platform_template: { readonly id: string; readonly name: string; readonly status: string };
  readonly channel_campaigns: { readonly campaign_id: number; readonly channels: { readonly channel_id: number }[] }[];
}

async function listed(service: Service, clientId: ClientId, deleted = false): Promise<Listed[]> {
  const query = { deleted: String(deleted) };
  const { body } = await service.asOperator(service.endpoints.list, clientId, { query });
  return (body as { readonly data: Listed[] }).data;
}

async function theOne(service: Service, clientId: ClientId): Promise<Listed> {
  const [one, ...others] = await listed(service, clientId);
  if (one === undefined || others.length > 0) throw new Error('not exactly one template');
  return one;
}

const pairsOf = ({ channel_campaigns }: Listed): Pair[] =>
  channel_campaigns.flatMap(({ campaign_id, channels }) =>
    channels.map(({ channel_id }) => ({ channelId: channel_id, campaignId: campaign_id })),
  );

interface Assignment {
  readonly clientId: (typeof sharers)[number];
  readonly kind: AssignmentKind;
  readonly pairs: readonly { readonly channel: 0 | 1; readonly campaignId: number }[];
}

const anyAssignment: fc.Arbitrary<Assignment> = fc.record({
  clientId: fc.constantFrom(...sharers),
  kind: fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
  pairs: fc.array(
    fc.record({ channel: fc.constantFrom(0 as const, 1 as const), campaignId: fc.constantFrom(10, 11) }),
    {
      maxLength: 3,
    },
  ),
});

const pairsFor = ({ clientId, pairs }: Assignment): Pair[] =>
  pairs.map(({ channel, campaignId }) => ({ channelId: channelsOf[clientId][channel], campaignId }));

function assign(service: Service, messageTemplateId: string, assignment: Assignment) {
  return service.asOperator(service.endpoints[assignment.kind], assignment.clientId, {
    path: { messageTemplateId },
    ...(assignment.kind === 'remove'
      ? {}
      : { body: JSON.stringify({ channel_campaigns: written(pairsFor(assignment)) }) }),
  });
}

function setStatus(service: Service, clientId: ClientId, item: { readonly id: string; readonly action: string }) {
  return service.asOperator(service.endpoints.status, clientId, { body: JSON.stringify({ templates: [item] }) });
}

function orders<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((first, place) => orders(list.toSpliced(place, 1)).map((rest) => [first, ...rest]));
}

/** Spells documents the same for every order of pairs; a new `_id` is `new`. */
function textOf(documents: readonly ModelDocument[], before: readonly ModelDocument[]): string {
  const known = (id: string | undefined) => (before.some((document) => document.id === id) ? id : 'new');
  return documents
    .map(({ id, pair }) => `${pair?.channelId}:${pair?.campaignId} ${known(id)}`)
    .toSorted()
    .join();
}

/** Reads a client's documents from answers only. */
async function documentsOf(service: Service, clientId: (typeof sharers)[number]): Promise<ModelDocument[]> {
  const template = await theOne(service, clientId);
  const pairs = pairsOf(template);
  if (pairs.length === 0) return [{ id: template.id }];
  const { body } = await service.asOperator(service.endpoints.add, clientId, {
    path: { messageTemplateId: template.id },
    body: JSON.stringify({ channel_campaigns: written(pairs) }),
  });
  const { ids } = body as { readonly ids: readonly string[] };
  expect(new Set(ids).size).toBe(pairs.length);
  return pairs.map((pair, place) => ({ id: ids[place], pair })).toSorted((a) => (a.id === template.id ? -1 : 1));
}

const property = { seed: 1, numRuns: thorough ? 12 : 3, endOnFailure: true };

test('assignments of one and of two clients, a synchronization and a switch at the same time', async () => {
  const calls = fc.array(anyAssignment, { minLength: 2, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(calls, calls, anyFaults, async (earlier, racing, faults) => {
      const { service, upstreamId, run } = await startRace(faults);
      const before = { 1001: [] as ModelDocument[], 1002: [] as ModelDocument[] };
      for (const call of earlier) await assign(service, (await theOne(service, call.clientId)).id, call);
      for (const clientId of sharers) before[clientId] = await documentsOf(service, clientId);
      await platform.control('POST', `templates/${upstreamId}`, { status: 'PAUSED' });
      const idFor = (clientId: (typeof sharers)[number]) => before[clientId][0]?.id ?? '';
      const ids = { 1001: idFor(1001), 1002: idFor(1002) };
      const answers = await run([
        ...racing.map((call) => async () => (await assign(service, ids[call.clientId], call)).status),
        () => synchronize(service),
        async () => (await setStatus(service, 1001, { id: ids[1001], action: 'disable' })).status,
      ]);
      // An earlier replacement may have removed the `_id` that names the template.
      for (const status of answers) expect([200, 201, 404]).toContain(status);
      for (const clientId of sharers) {
        const own = racing.filter((call, place) => call.clientId === clientId && answers[place] !== 404);
        const ends = orders(own).map((order) =>
          order.reduce((documents, call) => changed(documents, call.kind, pairsFor(call)), before[clientId]),
        );
        const end = textOf(await documentsOf(service, clientId), before[clientId]);
        expect(ends.map((documents) => textOf(documents, before[clientId]))).toContain(end);
        const { active, platform_template } = await theOne(service, clientId);
        expect([active, platform_template.status]).toEqual([clientId !== 1001 || answers.at(-1) !== 200, 'PAUSED']);
      }
    }),
    property,
  );
}, 120_000);

test('enabling while the last assignment goes: the answer fits what is there', async () => {
  await fc.assert(
    fc.asyncProperty(anyFaults, async (faults) => {
      const { service, run } = await startRace(faults);
      const { id } = await theOne(service, 1001);
      const add: Assignment = { clientId: 1001, kind: 'add', pairs: [{ channel: 0, campaignId: 10 }] };
      await assign(service, id, add);
      await setStatus(service, 1001, { id, action: 'disable' });
      const [enabled] = await run([
        () => setStatus(service, 1001, { id, action: 'enable' }),
        () => assign(service, id, { ...add, kind: 'remove' }),
      ]);
      const end = await theOne(service, 1001);
      expect(pairsOf(end)).toEqual([]);
      const result = end.active ? { success: true } : { success: false, reason: 'channel_unassigned' };
      expect(enabled?.body).toMatchObject({ results: [result] });
    }),
    property,
  );
}, 120_000);

test('a deletion and whatever else at the same time: it is deleted, for every client', async () => {
  const add: Assignment = { clientId: 1002, kind: 'add', pairs: [{ channel: 0, campaignId: 10 }] };
  await fc.assert(
    fc.asyncProperty(anyFaults, async (faults) => {
      const { service, run } = await startRace(faults);
      const { id } = await theOne(service, 1001);
      const path = { did, messageTemplateId: id };
      const body = JSON.stringify({ components: [{ type: 'BODY', text: 'Your order has arrived.' }] });
      const { endpoints, asOperator } = service;
      const [deleted, ...others] = await run([
        async () => (await asOperator(endpoints.deleting, 1001, { path })).status,
        async () => (await asOperator(endpoints.editing('fine'), 1002, { path, body })).status,
        async () => (await assign(service, id, add)).status,
        async () => (await setStatus(service, 1001, { id, action: 'disable' })).status,
        () => synchronize(service),
      ]);
      expect(deleted).toBe(200);
      // The edit comes first, or finds the template gone here or at the platform.
      for (const status of others) expect([200, 201, 400, 404]).toContain(status);
      for (const clientId of sharers) {
        expect(await listed(service, clientId)).toEqual([]);
        expect(await listed(service, clientId, true)).toHaveLength(1);
      }
    }),
    property,
  );
}, 120_000);

test('two creations of one name and a synchronization at the same time: one is carried out, whole', async () => {
  await fc.assert(
    fc.asyncProperty(anyFaults, async (faults) => {
      const { service, run } = await startRace(faults);
      const template = { name: 'order_update', language: 'en_US', category: 'UTILITY', components };
      const create = async (clientId: (typeof sharers)[number]) => {
        const channel_campaigns = channelsOf[clientId].map((channel_id) => ({ channel_id, campaign_id: 10 }));
        const body = JSON.stringify({ ...template, channel_campaigns });
        return (await service.asOperator(service.endpoints.creating('fine'), clientId, { path: { did }, body })).status;
      };
      const answers = await run([() => create(1001), () => create(1002), () => synchronize(service)]);
      expect(answers.toSorted()).toEqual([200, 200, 400]);
      for (const [place, clientId] of sharers.entries()) {
        const made = (await listed(service, clientId)).filter((each) => each.platform_template.name === template.name);
        const pairs = channelsOf[clientId].map((channelId) => ({ channelId, campaignId: 10 }));
        expect(made.map(pairsOf)).toEqual([
          answers[place] === 200 ? pairs.toSorted((a, b) => a.channelId - b.channelId) : [],
        ]);
      }
    }),
    property,
  );
}, 120_000);
