import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Waba } from '../wabas.ts';
import { checkDefinition, checkName, checkPlace, refuseUnderReview, requireCreationBudget } from './create.ts';
import { parseUpsert, type Upsert } from './definition.ts';
import { checkEditable } from './edit.ts';
import { invalid } from './rules/refusals.ts';
import { type Template, timeText } from './template.ts';

/**
 * Answers `POST /{waba_id}/upsert_message_templates` (platform reference, 2.8): one-time-code templates in several
 * languages, without review. At the first fault nothing changes.
 */
export function upsertTemplates(world: World, waba: Waba, request: PlatformRequest): Reply {
  refuseUnderReview(world, waba);
  const { languages, ...given } = parseUpsert(request.body);
  checkName(given);
  checkDefinition(world, given);
  checkLabels(given);
  const wanted = [...new Set(languages)].map((language) => ({
    language,
    known: world.templates.find(waba.id, given.name, language),
  }));
  requireCreationBudget(world, waba, wanted.filter(({ known }) => known === undefined).length);
  for (const { language, known } of wanted) {
    if (known === undefined) checkPlace(world, waba, { ...given, language });
    else checkKnown(known);
  }
  const data = wanted.map(({ language, known }) => {
    const { id, fields } = put(world, waba, { known, given: { ...given, language } });
    return { id, status: fields.status, category: fields.category, language };
  });
  return json({ data });
}

function checkKnown(known: Template): void {
  const { name, category } = known.fields;
  if (category !== 'AUTHENTICATION') throw invalid(`${name} is ${category}`);
  checkEditable(known);
}

interface Wanted {
  readonly known: Template | undefined;
  readonly given: Omit<Upsert, 'languages'> & { readonly language: string };
}

function put(world: World, waba: Waba, { known, given }: Wanted): Template {
  const nowMs = world.clock.nowMs();
  const approved = { ...given, status: 'APPROVED', last_updated_time: timeText(nowMs) };
  if (known === undefined) world.creations.spend(waba.id, nowMs);
  const now =
    known === undefined
      ? world.templates.add(waba.id, { sub_category: 'CUSTOM', ...approved })
      : world.templates.replace(known, { ...known.fields, ...approved });
  world.lifeCycle.stop(now);
  world.tellTemplate(known, now, { atMs: nowMs });
  return now;
}

/** The platform sets the labels in each language. */
function checkLabels({ components }: Pick<Upsert, 'components'>): void {
  for (const button of components.flatMap((component) => component.buttons ?? [])) {
    for (const key of ['text', 'autofill_text'] as const) {
      if (button[key] !== undefined) throw invalid(`buttons: ${key} can't be given for several languages at once`);
    }
  }
}
