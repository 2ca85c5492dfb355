import * as v from 'valibot';
import { ControlError } from '../control-error.ts';
import type { World } from '../state.ts';
import type { App } from './app-registry.ts';
import { postLimits } from './envelope.ts';
import { ReceiptRuleSchema } from './receipt-rules.ts';

const UpdateSchema = v.strictObject({
  waba_id: v.string(),
  field: v.pipe(v.string(), v.nonEmpty()),
  value: v.unknown(),
  in_seconds: v.optional(v.pipe(v.number(), v.minValue(0)), 0),
});
const TextSchema = v.optional(v.pipe(v.string(), v.nonEmpty()));
const AppSchema = v.strictObject({
  name: TextSchema,
  secret: TextSchema,
  callback_url: v.optional(v.nullable(v.pipe(v.string(), v.url()))),
  fields: v.optional(v.nullable(v.array(v.string()))),
  subscribed_waba_ids: v.optional(v.array(v.string())),
  updates_per_post: v.optional(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(postLimits.updates))),
  ),
});

/** Lists the newest first, with the counts of planned, due and given-up updates. */
export function listDeliveries(world: World, limit: number): unknown {
  const { planned, due } = world.outbox.waiting;
  const given_up = world.outbox.givenUp;
  return { total: world.deliveries.total, planned, due, given_up, data: world.deliveries.newest(limit) };
}

export function addReceiptRule(world: World, body: unknown): unknown {
  const id = world.receiptRules.add(v.parse(ReceiptRuleSchema, body));
  return { success: true, id, rules: world.receiptRules.size };
}

/** Plans any update, valid or not, for the WABA's subscribed apps. */
export function planUpdate(world: World, body: unknown): unknown {
  const { waba_id: wabaId, field, value, in_seconds: seconds } = v.parse(UpdateSchema, body);
  const atMs = world.clock.nowMs() + seconds * 1_000;
  world.outbox.add({ kind: 'node', wabaId, field, value }, atMs);
  return { success: true, targets: world.apps.targetsOf(wabaId, field).length };
}

/** Adds or changes an app, without a handshake with its callback. */
export function changeApp(world: World, id: string, body: unknown): unknown {
  if (!/^\d{5,16}$/.test(id)) throw new ControlError(400, 'id', `${id} is no app id`);
  const given = v.parse(AppSchema, body);
  const known: App = world.apps.get(id) ?? { id, name: `App ${id}` };
  const url = given.callback_url === undefined ? known.callback?.url : (given.callback_url ?? undefined);
  const fields = given.fields === undefined ? known.callback?.fields : (given.fields ?? undefined);
  const unknown = given.subscribed_waba_ids?.find((wabaId) => !world.wabas.has(wabaId));
  if (unknown !== undefined) throw new ControlError(400, 'subscribed_waba_ids', `${unknown} is no WABA`);
  const app = world.apps.put({
    ...known,
    name: given.name ?? known.name,
    secret: given.secret ?? known.secret,
    callback: url === undefined ? undefined : { url, fields },
    updatesPerPost: given.updates_per_post === undefined ? known.updatesPerPost : (given.updates_per_post ?? undefined),
  });
  if (given.subscribed_waba_ids !== undefined) subscribeTo(world, id, given.subscribed_waba_ids);
  return { id, name: app.name, callback: app.callback ?? null };
}

function subscribeTo(world: World, appId: string, wabaIds: readonly string[]): void {
  for (const wabaId of world.wabas.keys()) {
    if (wabaIds.includes(wabaId)) world.apps.subscribe(wabaId, { appId });
    else world.apps.unsubscribe(wabaId, appId);
  }
}
