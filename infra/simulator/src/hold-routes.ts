import * as v from 'valibot';
import { ControlError } from './control-error.ts';
import { type ControlRequest, type ControlRoute, givenParameters, type Simulation } from './control-route.ts';
import { holdKinds, noUtilityTemplates } from './holds.ts';
import type { World } from './state.ts';
import { timeText } from './templates/template.ts';
import { warningUpdate } from './webhooks/hold-updates.ts';

const yearInSeconds = 31_536_000;

const nodes = {
  waba: { name: 'WABA', known: (world: World, id: string) => world.wabas.has(id) },
  number: { name: 'phone number', known: (world: World, id: string) => world.numbers.has(id) },
} as const;
type Node = keyof typeof nodes;

const codesOf = (node: Node) => holdKinds.filter((kind) => kind.of === node).map(({ code }) => code);
const codesListed = (node: Node) => codesOf(node).join('|');

export const holdRoutes: readonly ControlRoute[] = [
  {
    method: 'POST',
    path: '/_control/wabas/{id}/holds',
    what: `refuse the messages of a WABA until this is taken back: {code: ${codesListed('waba')}, expires_in_seconds?: of 368, 131064 and no_utility_templates, expiration_as?: integer|text, later?: of 131042 and 131031, accepted and failed by webhook}; told by account_update, 131042 not at all`,
    run: ({ world }, { body }, id) => openHold(world, { node: 'waba', id }, body),
  },
  {
    method: 'DELETE',
    path: '/_control/wabas/{id}/holds',
    what: 'take them back: ?code= that one',
    run: endHolds('waba'),
  },
  {
    method: 'POST',
    path: '/_control/wabas/{id}/warnings',
    what: 'warn a WABA by account_update, and hold nothing: {violation_type: UTILITY_TEMPLATE_ABUSE|ADULT|..., phone_number_id?}; the number is told when it is given',
    run: ({ world }, { body }, id) => warn(world, id, body),
  },
  {
    method: 'POST',
    path: '/_control/numbers/{id}/holds',
    what: `refuse the messages of a number until this is taken back: {code: ${codesListed('number')}}; no_answer: they get no answer, and everything else does`,
    run: ({ world }, { body }, id) => openHold(world, { node: 'number', id }, body),
  },
  {
    method: 'DELETE',
    path: '/_control/numbers/{id}/holds',
    what: 'take them back: ?code= that one',
    run: endHolds('number'),
  },
];

interface Place {
  readonly node: Node;
  readonly id: string;
}

function openHold(world: World, place: Place, body: unknown): unknown {
  checkKnown(world, place);
  const schema = v.strictObject({
    code: v.picklist(codesOf(place.node)),
    expires_in_seconds: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(yearInSeconds))),
    expiration_as: v.optional(v.picklist(['integer', 'text']), 'integer'),
    later: v.optional(v.boolean(), false),
  });
  const { code, expires_in_seconds: seconds, expiration_as: form, later: isLater } = v.parse(schema, body);
  const kind = holdKinds.find((each) => each.code === code);
  if (kind === undefined) throw new Error(`${code} is a code of no hold`);
  if (seconds !== undefined && kind.hasEnd !== true) {
    throw new ControlError(400, 'expires_in_seconds', `is told of no ${code}`);
  }
  if (isLater && kind.mayBeLater !== true) throw new ControlError(400, 'later', `is nothing of ${code}`);
  const nowMs = world.clock.nowMs();
  const end = seconds === undefined ? {} : { untilMs: nowMs + seconds * 1_000, isEndText: form === 'text' };
  world.holds.open({ nodeId: place.id, kind, isLater, ...end }, nowMs);
  if (code === noUtilityTemplates) makeMarketing(world, place.id);
  return told(world, place.id);
}

/** Changes approved UTILITY templates of a WABA that misuses them to MARKETING (platform reference, 10.4). */
function makeMarketing(world: World, wabaId: string): void {
  const nowMs = world.clock.nowMs();
  for (const template of world.templates.ofWaba(wabaId)) {
    const { category, status } = template.fields;
    if (category !== 'UTILITY' || status !== 'APPROVED') continue;
    const change = { category: 'MARKETING', previous_category: category, last_updated_time: timeText(nowMs) };
    world.tellTemplate(template, world.templates.replace(template, { ...template.fields, ...change }), { atMs: nowMs });
  }
}

function endHolds(node: Node) {
  return ({ world }: Simulation, { query }: ControlRequest, id: string): unknown => {
    checkKnown(world, { node, id });
    const schema = v.strictObject({ code: v.optional(v.picklist(codesOf(node).map(String))) });
    const { code } = v.parse(schema, givenParameters(query));
    for (const hold of world.holds.on(id)) {
      if (code === undefined || String(hold.kind.code) === code) world.holds.end(hold, world.clock.nowMs());
    }
    return told(world, id);
  };
}

const WarningSchema = v.strictObject({
  violation_type: v.pipe(v.string(), v.regex(/^[A-Z_]{1,100}$/, 'must be a word of the platform')),
  phone_number_id: v.optional(v.string()),
});

function warn(world: World, id: string, body: unknown): unknown {
  checkKnown(world, { node: 'waba', id });
  const { violation_type: type, phone_number_id: numberId } = v.parse(WarningSchema, body);
  const number = numberId === undefined ? undefined : world.numbers.get(numberId);
  if (numberId !== undefined && number?.wabaId !== id) {
    throw new ControlError(400, 'phone_number_id', `${numberId} is no phone number of the WABA`);
  }
  world.outbox.add(warningUpdate(id, type, number?.digits), world.clock.nowMs());
  return { id, violation_type: type };
}

function checkKnown(world: World, { node, id }: Place): void {
  if (!nodes[node].known(world, id)) throw new ControlError(404, 'id', `${id} is no ${nodes[node].name}`);
}

function told(world: World, id: string): unknown {
  return { id, holds: holdsView(world, id) };
}

export function holdsView(world: World, id: string) {
  return world.holds.on(id).map(({ kind, sinceMs, untilMs, isLater }) => ({
    code: kind.code,
    since: new Date(sinceMs).toISOString(),
    ...(isLater === true ? { later: true } : {}),
    expires_at: untilMs === undefined ? undefined : new Date(untilMs).toISOString(),
  }));
}
