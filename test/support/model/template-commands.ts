import fc from 'fast-check';
import { expect } from 'vitest';
import {
  anyChoice,
  anyPairs,
  anySlot,
  type Choice,
  type Chosen,
  chosen,
  chosenPairs,
  command,
  isForeignTo,
  type PairChoice,
  written,
} from './command.ts';
import type { Model } from './model.ts';
import type { Fate, Service } from './service.ts';
import { type ClientId, channels, clientIds, clientsOf, type Slot, texts } from './setting.ts';

const anyClient = fc.constantFrom(...clientIds);
const anyText = fc.constantFrom(...texts);
const anyFate: fc.Arbitrary<Fate> = fc.constantFrom('fine', 'fine', 'fine', 'fine', 'reply_lost', 'not_stored');
const deletionFate: fc.Arbitrary<Fate> = fc.constantFrom('fine', 'fine', 'fine', 'reply_lost');

const isOn = (wabaId: string, clientId: ClientId) => clientsOf(wabaId).includes(clientId);
const didOf = (wabaId: string) => channels.find((channel) => channel.wabaId === wabaId)?.did ?? '';

/** Runs a call, and loses the platform's reply when the fate says so. */
async function withFate<T>(service: Service, fate: Fate, match: object, call: () => Promise<T>): Promise<T> {
  if (fate !== 'reply_lost') return call();
  await service.platform.control('POST', 'faults', { match, action: { drop: 'after' }, times: 1 });
  const answer = await call();
  await service.platform.control('DELETE', 'faults');
  return answer;
}

interface Create {
  readonly slot: Slot;
  readonly actor: Choice;
  readonly text: string;
  readonly pairs: PairChoice;
  readonly fate: Fate;
}

async function create(model: Model, service: Service, { slot, actor, text, pairs, fate }: Create): Promise<void> {
  const clients = actor.stray ? clientIds : clientsOf(slot.wabaId);
  const clientId = clients[actor.actor % clients.length] ?? 1001;
  const asked = chosenPairs(clientId, pairs);
  const { name, language } = slot;
  const template = { name, language, category: 'UTILITY', components: [{ type: 'BODY', text }] };
  const { status, body } = await withFate(service, fate, { method: 'POST', path: 'message_templates' }, () =>
    service.asOperator(service.endpoints.creating(fate), clientId, {
      path: { did: didOf(slot.wabaId) },
      body: JSON.stringify({ ...template, channel_campaigns: written(asked) }),
    }),
  );
  if (!isOn(slot.wabaId, clientId)) return expect(status).toBe(403);
  if (model.nameIsTaken(slot) || isForeignTo(slot.wabaId, asked)) return expect(status).toBe(400);
  const created = model.upstream.create(slot, text, model.nowMs);
  if (created !== undefined) created.id = await service.platform.idOf(slot);
  if (fate === 'reply_lost') return expect(status).toBe(502);
  if (created === undefined) return expect(status).toBe(400);
  expect({ status, body }).toEqual({
    status: 200,
    body: { id: created.id, status: created.status, category: 'UTILITY' },
  });
  if (fate === 'fine') model.storeCreated(created, clientId, asked);
}

interface Change {
  readonly choice: Choice;
  readonly fate: Fate;
}

/** Returns undefined, after a check of the answer, when the client or its DID has no such template. */
function templateToChange(model: Model, { id, clientId, wabaId }: Chosen, status: number | undefined) {
  const allowed = isOn(wabaId, clientId);
  const template = allowed ? model.named(id)?.template : undefined;
  if (template?.slot.wabaId === wabaId) return template;
  expect(status).toBe(allowed ? 404 : 403);
  return undefined;
}

async function edit(model: Model, service: Service, given: Change & { readonly text: string }): Promise<void> {
  const { choice, text, fate } = given;
  const named = chosen(model, choice);
  const { id, clientId, wabaId } = named;
  const before = model.named(id)?.template;
  const there = before === undefined ? undefined : model.upstream.at(before.slot);
  const upstreamId = there?.id ?? before?.shown.id ?? '';
  const { status, body } = await withFate(service, fate, { method: 'POST', path: upstreamId }, () =>
    service.asOperator(service.endpoints.editing(fate), clientId, {
      path: { did: didOf(wabaId), messageTemplateId: id },
      body: JSON.stringify({ components: [{ type: 'BODY', text }] }),
    }),
  );
  const template = templateToChange(model, named, status);
  if (template === undefined) return;
  // The platform's template decides; the sent one does for a new one that does not exist there yet.
  if (there === undefined ? !template.asSent : there.status === 'PENDING_DELETION') return expect(status).toBe(404);
  if (there !== undefined && fate !== 'not_stored') model.store(there);
  if ((there?.text ?? template.shown.components[0]?.text) === text) {
    return expect({ status, body }).toMatchObject({ status: 200, body: { success: true, changed: false } });
  }
  const taken = model.upstream.edit(upstreamId, text, model.nowMs);
  if (fate === 'reply_lost') return expect(status).toBe(502);
  if (!taken) return expect(status).toBe(400);
  expect({ status, body }).toEqual({ status: 200, body: { success: true, changed: true } });
  if (fate === 'fine') model.storeEdited(template, text);
}

async function remove(model: Model, service: Service, given: Change): Promise<void> {
  const { choice, fate } = given;
  const named = chosen(model, choice);
  const { id, clientId, wabaId } = named;
  const { status, body } = await withFate(service, fate, { method: 'DELETE', path: 'message_templates' }, () =>
    service.asOperator(service.endpoints.deleting, clientId, {
      path: { did: didOf(wabaId), messageTemplateId: id },
    }),
  );
  const template = templateToChange(model, named, status);
  if (template === undefined) return;
  // The platform's template decides when it is the same template.
  const there = model.upstream.at(template.slot);
  const statusNow = there?.id === template.shown.id ? there.status : template.shown.status;
  if (statusNow === 'DISABLED') return expect(status).toBe(409);
  model.upstream.remove(template.shown.id, model.nowMs);
  if (fate === 'reply_lost') return expect(status).toBe(502);
  // The platform refused the deletion of a template that still exists and is not pending deletion.
  if (model.upstream.byId(template.shown.id) !== undefined) return expect(status).toBe(400);
  expect({ status, body }).toEqual({ status: 200, body: { success: true } });
  if (there !== undefined && there.id !== template.shown.id && there.status !== 'PENDING_DELETION') model.store(there);
  else model.storeDeleted(template, statusNow);
}

export async function synchronize(
  model: Model,
  service: Service,
  { clientId, hurried }: { readonly clientId: ClientId; readonly hurried: boolean },
): Promise<void> {
  const { status } = await service.asOperator(service.endpoints.sync, clientId, {});
  expect(status).toBe(200);
  // The time is too short for a second WABA: the worker continues from its checkpoint.
  await service.work(hurried ? 1_000 : 900_000);
  model.synchronize(clientId);
}

export const templateCommands = {
  create: command(
    'create',
    fc.record({ slot: anySlot, actor: anyChoice, text: anyText, pairs: anyPairs, fate: anyFate }),
    create,
  ),
  edit: command('edit', fc.record({ choice: anyChoice, text: anyText, fate: anyFate }), edit),
  remove: command('delete', fc.record({ choice: anyChoice, fate: deletionFate }), remove),
  synchronize: command('synchronize', fc.record({ clientId: anyClient, hurried: fc.boolean() }), synchronize),
};
