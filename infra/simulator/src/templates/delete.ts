import { graphError, managementError, PlatformError } from '../errors.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Waba } from '../wabas.ts';
import { refuseGenerated } from './edit.ts';
import type { Template } from './template.ts';

const mostAtOnce = 100;

/**
 * Answers `DELETE /{waba_id}/message_templates` (platform reference, 2.7): all languages of a `name`, one by `hsm_id`
 * and `name`, or many by `hsm_ids`. When one cannot be deleted, none is.
 */
export function deleteTemplates(world: World, waba: Waba, request: PlatformRequest): Reply {
  const templates = wantedTemplates(world, waba, request.query);
  for (const template of templates) refuseGenerated(template, 'deleted');
  if (templates.some((template) => template.fields.status === 'DISABLED')) {
    throw managementError(2388039, 'A disabled template cannot be deleted');
  }
  for (const template of templates) {
    if (template.fields.status === 'APPROVED') world.nameLocks.lock(template, world.clock.nowMs());
    world.templates.remove(template);
    world.tellTemplate(template, undefined, { atMs: world.clock.nowMs() });
  }
  return json({ success: true });
}

function wantedTemplates(world: World, waba: Waba, query: URLSearchParams): readonly Template[] {
  const [name, id, ids] = ['name', 'hsm_id', 'hsm_ids'].map((parameter) => query.get(parameter) || undefined);
  if (ids !== undefined) {
    if (name !== undefined || id !== undefined) {
      throw graphError(100, '(#100) Param hsm_ids excludes name and hsm_id.');
    }
    return idsOf(ids).map((one) => templateOf(world, waba, one));
  }
  if (name === undefined) throw graphError(100, '(#100) The parameter name is required.');
  if (id === undefined) {
    const found = world.templates.named(waba.id, name);
    if (found.length === 0) throw notFound(`The business account has no template ${name}`);
    return found;
  }
  const template = templateOf(world, waba, id);
  if (template.fields.name !== name) throw notFound(`The template ${id} is not called ${name}`);
  return [template];
}

/** Parses a JSON array of ids, as strings or numbers. */
function idsOf(text: string): readonly string[] {
  const list = /^\[\s*"?\d+"?(?:\s*,\s*"?\d+"?)*\s*\]$/.test(text) ? (text.match(/\d+/g) ?? []) : [];
  if (list.length === 0) throw graphError(100, '(#100) Param hsm_ids must be an array of template ids.');
  if (list.length > mostAtOnce) throw graphError(100, `(#100) Param hsm_ids must have at most ${mostAtOnce} elements.`);
  return [...new Set(list)];
}

function templateOf(world: World, waba: Waba, id: string): Template {
  const template = world.templates.get(id);
  if (template?.wabaId !== waba.id) throw notFound(`The business account has no template ${id}`);
  return template;
}

/** The platform documents no such refusal; an emulator of it answers 404 (2.7). */
function notFound(userMessage: string): PlatformError {
  return new PlatformError(404, {
    message: 'Invalid parameter',
    type: 'OAuthException',
    code: 100,
    is_transient: false,
    error_user_title: 'Message template not found',
    error_user_msg: userMessage,
  });
}
