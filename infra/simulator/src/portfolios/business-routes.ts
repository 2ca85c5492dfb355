import * as v from 'valibot';
import { ControlError } from '../control-error.ts';
import type { ControlRoute } from '../control-route.ts';
import { isKnownCode } from '../errors.ts';
import type { World } from '../state.ts';
import { ownerOf, portfolioIdOf, type Waba, wabasOf } from '../wabas.ts';
import { capabilityUpdate } from '../webhooks/capability-updates.ts';
import { type Tier, tierNames } from './messaging-limits.ts';

const yearInSeconds = 31_536_000;
const limitField = 'whatsapp_business_manager_messaging_limit';
/** The codes are our reading: the platform publishes none for a reached limit and a portfolio under review. */
const usualCodes = { limit: 131048, review: 368 };

const CodeSchema = v.pipe(v.number(), v.integer(), v.check(isKnownCode, 'is not a code of the platform'));
const CountSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000));

const LimitSchema = v.strictObject({
  [limitField]: v.picklist(tierNames),
  beyond: v.optional(v.picklist(['failed', 'refused']), 'failed'),
  code: v.optional(CodeSchema, usualCodes.limit),
  told_as: v.optional(v.picklist(['integer', 'tier']), 'integer'),
});
const ParentIdsSchema = v.strictObject({ parent_user_ids: v.boolean() });
const PacingSchema = v.strictObject({
  accepts: CountSchema,
  outcome: v.optional(v.picklist(['released', 'dropped']), 'released'),
  ends_in_seconds: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(yearInSeconds))),
  code: v.optional(CodeSchema, usualCodes.review),
});
const OutcomeSchema = v.pipe(
  v.strictObject({
    outcome: v.picklist(['released', 'dropped']),
    messages: v.optional(v.pipe(CountSchema, v.minValue(1))),
    code: v.optional(CodeSchema),
  }),
  v.forward(
    v.check(({ outcome, messages }) => outcome === 'released' || messages === undefined, 'goes with released alone'),
    ['messages'],
  ),
  v.forward(
    v.check(({ outcome, code }) => outcome === 'dropped' || code === undefined, 'goes with dropped alone'),
    ['code'],
  ),
);

export const businessRoutes: readonly ControlRoute[] = [
  {
    method: 'POST',
    path: '/_control/businesses/{id}',
    what: `set the messaging limit of a business, in force from then on, told by business_capability_update when it changes: {${limitField}: ${tierNames.join('|')}, beyond?: failed|refused, code?: ${usualCodes.limit} by default, told_as?: integer|tier}; beyond it messages fail later, or are refused at once; or know its people by parent ids too: {parent_user_ids}`,
    run: async ({ world, emit }, { body }, id) => {
      const answer = changeBusiness(world, id, body);
      await emit();
      return answer;
    },
  },
  {
    method: 'POST',
    path: '/_control/businesses/{id}/pacing',
    what: `pace a business: so many more templates are accepted, the others held_for_quality_assessment: {accepts, ends_in_seconds?, outcome?: released|dropped, code?}; it ends by itself only when a time is given`,
    run: ({ world }, { body }, id) => pace(world, id, body),
  },
  {
    method: 'POST',
    path: '/_control/businesses/{id}/pacing/outcome',
    what: `end the pacing: {outcome: released|dropped, messages?: so many, the oldest, and the rest stays held, code?}; dropped messages fail, 135000, and the business may neither send nor create templates while it is reviewed, ${usualCodes.review} by default`,
    run: async ({ world, emit }, { body }, id) => {
      const answer = settlePacing(world, id, body);
      await emit();
      return answer;
    },
  },
  {
    method: 'DELETE',
    path: '/_control/businesses/{id}/pacing',
    what: 'neither pace nor review a business any more; what is held goes on',
    run: ({ world }, _, id) => {
      requireWabas(world, id);
      world.pacing.forget(id, world.clock.nowMs());
      return businessView(world, id);
    },
  },
];

function requireWabas(world: World, id: string): readonly Waba[] {
  const wabas = wabasOf(world.wabas, id);
  if (wabas.length === 0) throw new ControlError(404, 'id', `${id} is no business`);
  return wabas;
}

function changeBusiness(world: World, id: string, body: unknown): unknown {
  const wabas = requireWabas(world, id);
  if (typeof body === 'object' && body !== null && 'parent_user_ids' in body) {
    world.people.enrol(id, v.parse(ParentIdsSchema, body).parent_user_ids);
    return businessView(world, id);
  }
  const { [limitField]: tier, beyond, code, told_as: form } = v.parse(LimitSchema, body);
  world.limits.enforce(id, { tier, beyond, code });
  for (const waba of wabas) {
    const isNew = waba.fields[limitField] !== tier;
    waba.fields = { ...waba.fields, [limitField]: tier };
    for (const number of waba.numbers) number.fields = withLimit(number.fields, tier);
    if (isNew) world.outbox.add(capabilityUpdate(waba.id, tier, form), world.clock.nowMs());
  }
  return businessView(world, id);
}

/** Updates the limit's older name where a number has it. */
function withLimit(fields: Waba['fields'], tier: Tier): Waba['fields'] {
  const older = fields['messaging_limit_tier'] === undefined ? {} : { messaging_limit_tier: tier };
  return { ...fields, ...older, [limitField]: tier };
}

function pace(world: World, id: string, body: unknown): unknown {
  requireWabas(world, id);
  const { accepts, outcome, ends_in_seconds: seconds, code } = v.parse(PacingSchema, body);
  const end = seconds === undefined ? undefined : { atMs: world.clock.nowMs() + seconds * 1_000, outcome, code };
  world.pacing.begin(id, { left: accepts, end, sinceMs: world.clock.nowMs() });
  return businessView(world, id);
}

function settlePacing(world: World, id: string, body: unknown): unknown {
  requireWabas(world, id);
  const { outcome, messages, code = usualCodes.review } = v.parse(OutcomeSchema, body);
  const nowMs = world.clock.nowMs();
  if (outcome === 'released') world.pacing.release(id, nowMs, messages);
  else world.pacing.drop(id, nowMs, code);
  return businessView(world, id);
}

function businessView(world: World, id: string) {
  const [waba] = wabasOf(world.wabas, id);
  const { beyond, code } = world.limits.enforcedOn(id) ?? {};
  return {
    id,
    name: (waba && ownerOf(waba)?.name) ?? id,
    [limitField]: waba?.fields[limitField] ?? null,
    /** The limit is only shown, not enforced, when this is null. */
    enforced: beyond === undefined ? null : { beyond, code },
    people: world.limits.peopleOf(id, world.clock.nowMs()),
    parent_user_ids: world.people.isEnrolled(id),
    pacing: world.pacing.told(id) ?? null,
  };
}

export function businessesView(world: World) {
  return [...new Set([...world.wabas.values()].map(portfolioIdOf))].map((id) => businessView(world, id));
}
