import fc from 'fast-check';
import { expect } from 'vitest';
import {
  anyChoice,
  anyPairs,
  type Choice,
  type Chosen,
  chosen,
  chosenPairs,
  command,
  isForeignTo,
  type PairChoice,
  written,
} from './command.ts';
import { comparePages } from './compare.ts';
import type { ListingQuery } from './listing.ts';
import { type AssignmentKind, changed, type Model } from './model.ts';
import type { Service } from './service.ts';
import { type ClientId, campaignName, clientIds, eachPairOnce, samePair } from './setting.ts';

interface Assignment {
  readonly kind: AssignmentKind;
  readonly pairs: PairChoice;
}

async function assign(model: Model, service: Service, given: Assignment & Omit<Chosen, 'wabaId'>): Promise<void> {
  const { kind, clientId, id: messageTemplateId } = given;
  const pairs = chosenPairs(clientId, given.pairs);
  const { status, body } = await service.asOperator(service.endpoints[kind], clientId, {
    path: { messageTemplateId },
    ...(kind === 'remove' ? {} : { body: JSON.stringify({ channel_campaigns: written(pairs) }) }),
  });
  const template = model.named(messageTemplateId)?.template;
  const kept = template?.kept.get(clientId);
  if (template === undefined || kept === undefined) return expect(status).toBe(404);
  if (kind !== 'remove' && isForeignTo(template.slot.wabaId, pairs)) return expect(status).toBe(400);
  kept.documents = changed(kept.documents, kind, pairs);
  if (kind !== 'add') {
    return expect({ status, body }).toEqual({ status: 200, body: { ids: null, success: true } });
  }
  const ids = eachPairOnce(pairs).map((pair, index) => {
    const document = kept.documents.find((each) => samePair(each.pair, pair));
    if (document !== undefined) model.learnId(document, (body as { ids: string[] }).ids[index] ?? '');
    return document?.id;
  });
  expect({ status, body }).toEqual({ status: 201, body: { ids, success: true } });
}

interface StatusItem {
  readonly id: string;
  readonly action: 'enable' | 'disable';
}

/** Returns the result of each item (D17): equal ids come first, then unknown ones, then ones for the same template. */
function statusResults(model: Model, items: readonly StatusItem[], askedId: ClientId | undefined) {
  const given = items.map(({ id, action }) => {
    const named = model.named(id);
    const isForeign = named !== undefined && named.ownerId !== (askedId ?? named.ownerId);
    return { id, action, named, isForeign, kept: named?.template.kept.get(named.ownerId) };
  });
  const byId = given.map((item) =>
    repetition(
      item,
      given.filter(({ id }) => id === item.id),
    ),
  );
  const left = given.filter(({ isForeign }, index) => byId[index] === undefined && !isForeign);
  return given.map((item, index) => {
    const { id, action, named, isForeign, kept } = item;
    const skipped = (reason: string) => ({ id, action, success: false, skipped: true, reason });
    const failed = (reason: string) => ({ id, action, success: false, skipped: false, reason });
    if (byId[index] !== undefined) return skipped(byId[index]);
    if (named === undefined || kept === undefined) return failed('not_found');
    if (isForeign) return failed('forbidden');
    const ofTemplate = repetition(
      item,
      left.filter((other) => other.kept === kept),
    );
    if (ofTemplate !== undefined) return skipped(ofTemplate);
    const active = action === 'enable';
    if (kept.active === active) return failed(active ? 'already_enabled' : 'already_disabled');
    if (active && named.template.shown.status !== 'APPROVED') return failed('template_not_approved');
    if (active && kept.documents.every(({ pair }) => pair === undefined)) return failed('channel_unassigned');
    kept.active = active;
    return { id, action, success: true, skipped: false, previous_active: !active, current_active: active };
  });
}

function repetition(item: StatusItem, same: readonly StatusItem[]): string | undefined {
  if (same.some(({ action }) => action !== item.action)) return 'conflicting_action';
  return same[0] === item ? undefined : 'duplicate_request';
}

interface Switch {
  readonly actor: Choice | undefined;
  readonly asked: readonly { readonly choice: Choice; readonly action: StatusItem['action'] }[];
}

async function setStatus(model: Model, service: Service, { actor, asked }: Switch): Promise<void> {
  const askedId = actor && chosen(model, actor).clientId;
  const items = asked.map(({ choice, action }) => ({ id: chosen(model, choice).id, action }));
  const { status, body } = await service.asOperator(service.endpoints.status, askedId, {
    body: JSON.stringify({ templates: items }),
  });
  const results = statusResults(model, items, askedId);
  const succeeded = results.filter(({ success }) => success).length;
  const skipped = results.filter((result) => result.skipped).length;
  const summary = { total: results.length, succeeded, skipped, failed: results.length - succeeded - skipped };
  expect({ status, body }).toEqual({ status: 200, body: { results, summary } });
}

const anyClient = fc.constantFrom(...clientIds);
const anyKind = fc.constantFrom('add' as const, 'add' as const, 'replace' as const, 'remove' as const);
const anyAssignment: fc.Arbitrary<Assignment> = fc.record({ kind: anyKind, pairs: anyPairs });

const sometimes = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const anyFilters = fc.record({
  deleted: sometimes(fc.constantFrom('true', 'false')),
  active: sometimes(fc.constantFrom('true', 'false')),
  state: sometimes(fc.constantFrom('APPROVED', 'PENDING,REJECTED', 'A_NEW_STATUS,PAUSED')),
  lang: sometimes(fc.constantFrom('en_US', 'es,pt_BR')),
  name: sometimes(fc.constantFrom('welcome', 'welc')),
  search: sometimes(fc.constantFrom('COME', '_up', '.')),
  did: sometimes(fc.constantFrom('5491100000501', '5491100000502', '5491100000999')),
  channel_ids: sometimes(fc.constantFrom('501', '502,505', 'x')),
  campaign_name: sometimes(
    fc.constantFrom('Unassigned', 'Unassigned', ...clientIds.map((clientId) => campaignName(clientId, 10))),
  ),
});
/** A query never has all filters, because they would find nothing together. */
const anyQuery: fc.Arbitrary<ListingQuery> = fc
  .tuple(anyFilters, fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 3 }))
  .map(([filters, places]) => {
    const given = Object.entries(filters).filter(([, value], place) => places.includes(place) && value !== undefined);
    return Object.fromEntries(given) as ListingQuery;
  });

export const clientCommands = {
  assign: command(
    'assign',
    fc.record({ choice: anyChoice, assignment: anyAssignment }),
    (model, service, { choice, assignment }) => assign(model, service, { ...chosen(model, choice), ...assignment }),
  ),
  /** All clients of a WABA assign at the same time, each by its own `_id`, and none affects another. */
  assignAtOnce: command(
    'assign at once',
    fc.record({ choice: anyChoice, assignments: fc.tuple(anyAssignment, anyAssignment) }),
    async (model, service, { choice, assignments }) => {
      const calls = assignments.map((assignment, place) => {
        const own = chosen(model, { ...choice, owner: place, actor: place, past: false, stray: false });
        return assign(model, service, { ...own, ...assignment });
      });
      await Promise.all(calls);
    },
  ),
  setStatus: command(
    'status',
    fc.record({
      actor: fc.option(anyChoice, { nil: undefined }),
      asked: fc.array(
        fc.record({ choice: anyChoice, action: fc.constantFrom('enable' as const, 'disable' as const) }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
    setStatus,
  ),
  list: command(
    'list',
    fc.record({ clientId: anyClient, query: anyQuery, size: fc.integer({ min: 1, max: 3 }), asUser: fc.boolean() }),
    comparePages,
  ),
};
