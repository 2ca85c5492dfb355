import { graphError, managementError, unnumberedManagementError } from '../errors.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { EditKind } from './budgets.ts';
import { type Category, type Change, parseChange } from './definition.ts';
import { checkComponents } from './rules/component-rules.ts';
import { checkOptimization, checkTimeToLive } from './rules/field-rules.ts';
import { type Template, timeText } from './template.ts';

/**
 * Answers `POST /{template_id}` (platform reference, 2.6): given fields replace the old ones, and a new review begins.
 */
export function editTemplate(world: World, template: Template, request: PlatformRequest): Reply {
  refuseGenerated(template, 'edited');
  const change = parseChange(request.body);
  if (Object.keys(change).length === 0) throw graphError(100, '(#100) Nothing to change was given.');
  const nowMs = world.clock.nowMs();
  const { status } = template.fields;
  const kind: EditKind = Object.keys(change).every((key) => key === 'optimization_spec') ? 'bid' : 'whole';
  checkStatus(world, template, kind);
  const category = categoryAfter(world, template, change);
  checkTimeToLive(category, change.message_send_ttl_seconds);
  checkOptimization(category, change.optimization_spec);
  if (change.components !== undefined) {
    checkComponents(
      {
        category,
        named: (change.parameter_format ?? template.fields.parameter_format) === 'NAMED',
        mediumOf: (handle) => world.uploads.mediumOf(handle),
      },
      change.components,
    );
  }
  if (status === 'APPROVED') world.edits.spend(template.id, kind, nowMs);
  const { rejected_reason: _, ...kept } = template.fields;
  const fields = {
    ...kept,
    ...change,
    category,
    components: change.components ?? kept.components,
    parameter_format: change.parameter_format ?? kept.parameter_format,
    status: 'PENDING',
    last_updated_time: timeText(nowMs),
  };
  const edited = world.templates.replace(template, fields);
  world.tellTemplate(template, edited, { atMs: nowMs });
  world.lifeCycle.review(edited, nowMs);
  return json({ success: true, id: template.id, name: fields.name, category });
}

/** Answers `POST /{template_id}/unpause` (2.8). */
export function unpauseTemplate(world: World, template: Template): Reply {
  if (template.fields.status !== 'PAUSED') return json({ success: false, reason: 'The template is not paused' });
  world.lifeCycle.unpause(template, world.clock.nowMs());
  return json({ success: true });
}

const ofGenerated = { edited: 2388318, deleted: 2388330 } as const;

/** Refuses to edit or delete a generated template (2.3). */
export function refuseGenerated({ fields: { source } }: Template, what: keyof typeof ofGenerated): void {
  if (source === 'AUTO_GENERATED') throw managementError(ofGenerated[what], `Generated templates can't be ${what}`);
}

/** Refuses templates in review, disabled or archived. */
export function checkEditable({ fields: { status } }: Template): void {
  if (['APPROVED', 'REJECTED', 'PAUSED'].includes(status)) return;
  throw managementError(2388039, `A template that is ${status} can't be edited`);
}

function checkStatus(world: World, template: Template, kind: EditKind): void {
  const { status } = template.fields;
  checkEditable(template);
  const obstacle = status === 'APPROVED' ? world.edits.obstacle(template.id, kind, world.clock.nowMs()) : undefined;
  if (obstacle !== undefined) throw managementError(2388039, obstacle);
}

/** An APPROVED template keeps its category, and all languages of a name share one. */
function categoryAfter(world: World, template: Template, change: Change): Category {
  const { name, status, category: before } = template.fields;
  const after = change.category ?? (before as Category);
  if (after === before) return after;
  if (status === 'APPROVED') {
    throw unnumberedManagementError('Category is frozen', 'The category of an approved template cannot be changed');
  }
  if (world.templates.named(template.wabaId, name).length > 1) {
    throw unnumberedManagementError(
      'Category mismatch',
      `The other languages of ${name} are ${before}, and all languages of a name share one category`,
    );
  }
  return after;
}
