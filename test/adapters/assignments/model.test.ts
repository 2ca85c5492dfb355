import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { addPairs, type Pair, removePairs, replacePairs } from '../../../lib/assignments/pairs.ts';
import { assignmentStore } from '../../../lib/assignments/store.ts';
import { templateOfClient } from '../../../lib/assignments/template.ts';
import { listedId, selectTemplates, type TemplateFilters } from '../../../lib/templates/listing.ts';
import type { TemplateRow } from '../../../lib/templates/row.ts';
import { rowStore } from '../../../lib/templates/row-store.ts';
import { setStatus } from '../../../lib/templates/set-status.ts';
import { statusStore } from '../../../lib/templates/status-store.ts';
import { templateStore } from '../../../lib/templates/store.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../support/directory.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { makeTemplate } from '../../support/templates.ts';

/*
 * Any sequence of assigning, replacing, removing, switching, synchronizing and listing by two clients of one WABA, the
 * calls of a step at the same time, against a model that is nothing but maps (R29, R30).
 */

const clientIds = [1001, 1002] as const;
type ClientId = (typeof clientIds)[number];
const names = ['order_update', 'welcome'] as const;
type Name = (typeof names)[number];
const operator = { userId: 'u-0', clientId: 1, crossClient: true };
const channelOf = { 1001: 501, 1002: 502 } as const;
const directory = memoryDirectory({
  wabas: [makeWaba()],
  channels: clientIds.map((clientId) =>
    makeChannel({ clientId, channelId: channelOf[clientId], did: `549110000000${clientId}` }),
  ),
  campaigns: clientIds.flatMap((clientId) =>
    [10, 11, 12].map((campaignId) => ({ campaignId, clientId, name: `Campaign ${campaignId}` })),
  ),
});
const documentClient = localDocumentClient();
let table: string;

beforeAll(async () => {
  table = await freshTable('templates');
});

interface Call {
  readonly kind: 'add' | 'replace' | 'remove' | 'enable' | 'disable';
  readonly name: Name;
  readonly campaigns: readonly number[];
  /** Names the template by an `_id` of the other client. */
  readonly byOther: boolean;
}
interface Step {
  readonly calls: Readonly<Record<ClientId, Call>>;
  readonly synchronized?: { readonly name: Name; readonly status: string } | undefined;
}

const anyCall: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom('add', 'replace', 'remove', 'enable', 'disable'),
  name: fc.constantFrom(...names),
  campaigns: fc.array(fc.constantFrom(10, 11, 12), { maxLength: 4 }),
  byOther: fc.boolean(),
});
const anyStep: fc.Arbitrary<Step> = fc.record({
  calls: fc.record({ 1001: anyCall, 1002: anyCall }),
  synchronized: fc.option(
    fc.record({ name: fc.constantFrom(...names), status: fc.constantFrom('APPROVED', 'PAUSED') }),
    { nil: undefined },
  ),
});

interface Kept {
  campaigns: Set<number>;
  active: boolean;
}

/** The service as the contract tells it, for one run; every run has a WABA's templates of its own. */
async function startRun(run: number) {
  const templates = templateStore(documentClient, table, async () => {});
  const rows = rowStore(documentClient, table);
  const assignments = assignmentStore(documentClient, table);
  const status = statusStore(documentClient, table);
  const nameOf = (name: Name) => `${name}_${run}`;
  let readAtMs = 0;
  const synchronize = async (name: Name, state: string) => {
    readAtMs += 1;
    const template = makeTemplate({ name: nameOf(name), status: state });
    await templates.refresh({ wabaId: makeWaba().wabaId, clientIds }, template, readAtMs);
  };
  for (const name of names) await synchronize(name, 'APPROVED');
  const list = async (clientId: number, filters: Partial<TemplateFilters> = {}) =>
    selectTemplates(await templates.rowsOf(clientId), { documents: {}, ...filters }, undefined)
      .map(({ row }) => row)
      .filter((row) => row.name.endsWith(`_${run}`));
  const idOf = async (clientId: number, name: Name) => {
    const [row] = await list(clientId, { name: nameOf(name) });
    return row === undefined ? '' : listedId(row);
  };
  const call = async (clientId: ClientId, id: string, { kind, campaigns }: Call) => {
    if (kind === 'enable' || kind === 'disable') {
      const [result] = await setStatus({ directory, rows, status }, { caller: operator, askedId: clientId }, [
        { id, action: kind },
      ]);
      return result?.success;
    }
    const pairs: Pair[] = campaigns.map((campaignId) => ({ channelId: channelOf[clientId], campaignId }));
    const template = await templateOfClient({ directory, rows }, { messageTemplateId: id, clientId });
    const change = (row: TemplateRow) => {
      if (kind === 'add') return addPairs(row, pairs);
      return kind === 'replace' ? replacePairs(row, pairs) : removePairs(row);
    };
    return (await assignments.update(template, change)) !== undefined;
  };
  return { list, idOf, call, synchronize, nameOf };
}

type Service = Awaited<ReturnType<typeof startRun>>;
type Answer = PromiseSettledResult<boolean | undefined>;

/** What the model knows: the platform's status of each template, and what each client has made of it. */
function newModel() {
  const statuses = new Map<Name, string>(names.map((name) => [name, 'APPROVED']));
  const fresh = (): Record<Name, Kept> => ({
    order_update: { campaigns: new Set(), active: true },
    welcome: { campaigns: new Set(), active: true },
  });
  return { statuses, kept: { 1001: fresh(), 1002: fresh() } };
}
type Model = ReturnType<typeof newModel>;

/** Compares one answer with what the model allows, and carries the call out on the model. */
function follow(model: Model, clientId: ClientId, { kind, name, campaigns, byOther }: Call, answer: Answer): void {
  const kept = model.kept[clientId][name];
  if (answer.status === 'rejected') {
    // The other client has just taken the document away by whose `_id` the template was named.
    expect([byOther, answer.reason.message]).toEqual([true, 'template not found']);
    return;
  }
  if (kind === 'add') for (const campaign of campaigns) kept.campaigns.add(campaign);
  if (kind === 'replace') kept.campaigns = new Set(campaigns);
  if (kind === 'remove') kept.campaigns = new Set();
  if (kind !== 'enable' && kind !== 'disable') return;
  const enables = !kept.active && model.statuses.get(name) === 'APPROVED' && kept.campaigns.size > 0;
  const allowed = kind === 'enable' ? enables : kept.active;
  if (answer.value || !byOther) expect(answer.value).toBe(allowed);
  if (answer.value) kept.active = kind === 'enable';
}

async function takeStep(service: Service, model: Model, { calls, synchronized }: Step): Promise<void> {
  const idsNamed = clientIds.map((clientId) => {
    const { name, byOther } = calls[clientId];
    const owner = byOther ? (clientId === 1001 ? 1002 : 1001) : clientId;
    return service.idOf(owner, name);
  });
  const [idFor1001 = '', idFor1002 = ''] = await Promise.all(idsNamed);
  if (synchronized !== undefined) {
    await service.synchronize(synchronized.name, synchronized.status);
    model.statuses.set(synchronized.name, synchronized.status);
  }
  const [answer1001, answer1002] = await Promise.allSettled([
    service.call(1001, idFor1001, calls[1001]),
    service.call(1002, idFor1002, calls[1002]),
  ]);
  follow(model, 1001, calls[1001], answer1001);
  follow(model, 1002, calls[1002], answer1002);
}

async function compare(service: Service, model: Model, clientId: ClientId): Promise<void> {
  const listed = (await service.list(clientId)).map(({ name, active, status, documents }) => ({
    name,
    active,
    status,
    campaigns: documents.flatMap(({ pair }) => pair?.campaignId ?? []).sort(),
  }));
  const expected = names.map((name) => {
    const { active, campaigns } = model.kept[clientId][name];
    return { name: service.nameOf(name), active, status: model.statuses.get(name), campaigns: [...campaigns].sort() };
  });
  expect(listed).toEqual(expected);
}

test('after any sequence the listing of either client equals the model', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 15, maxLength: 30 }), async (steps) => {
      run += 1;
      const service = await startRun(run);
      const model = newModel();
      for (const step of steps) {
        await takeStep(service, model, step);
        for (const clientId of clientIds) await compare(service, model, clientId);
      }
    }),
    { numRuns: 6, endOnFailure: true },
  );
});
