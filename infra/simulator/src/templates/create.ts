import languages from '../data/languages.json' with { type: 'json' };
import { graphError, managementError, unnumberedManagementError } from '../errors.ts';
import { noUtilityTemplates } from '../holds.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import { portfolioIdOf, type Waba } from '../wabas.ts';
import { templateLimitOf } from './budgets.ts';
import { type Category, type Creation, parseCreation, parseLibraryCreation } from './definition.ts';
import { creationFromLibrary } from './library.ts';
import { says } from './magic-words.ts';
import { checkComponents } from './rules/component-rules.ts';
import { checkOptimization, checkTimeToLive } from './rules/field-rules.ts';
import { timeText } from './template.ts';

/**
 * Answers `POST /{waba_id}/message_templates` (platform reference, 2.5, 2.11, 3 and 6.3). Throws at the first fault.
 * Library templates need no review.
 */
export function createTemplate(world: World, waba: Waba, request: PlatformRequest): Reply {
  const nowMs = world.clock.nowMs();
  refuseUnderReview(world, waba);
  requireCreationBudget(world, waba, 1);
  const chosen = parseLibraryCreation(request.body);
  const given = chosen === undefined ? parseCreation(request.body) : creationFromLibrary(chosen);
  checkName(given);
  checkPlace(world, waba, given);
  checkDefinition(world, given);
  if (given.category === 'UTILITY') refuseWithoutUtility(world, waba);
  world.creations.spend(waba.id, nowMs);
  const added = world.templates.add(waba.id, {
    sub_category: 'CUSTOM',
    ...given,
    category: grantedCategory(world, waba, given),
    status: chosen === undefined ? 'PENDING' : 'APPROVED',
    last_updated_time: timeText(nowMs),
  });
  world.tellTemplate(undefined, added, { atMs: nowMs });
  const { id, fields } = chosen === undefined ? world.lifeCycle.review(added, nowMs) : added;
  return json({ id, status: fields.status, category: fields.category });
}

/** A portfolio under review may create no template (platform reference, 2.10). */
export function refuseUnderReview(world: World, waba: Waba): void {
  const code = world.pacing.reviewOf(portfolioIdOf(waba));
  if (code !== undefined) throw graphError(code, `(#${code}) The business portfolio is being reviewed.`);
}

/** The platform's refusal for this case is not known; this one is ours. */
function refuseWithoutUtility(world: World, waba: Waba): void {
  const hold = world.holds.on(waba.id).find(({ kind }) => kind.code === noUtilityTemplates);
  if (hold === undefined) return;
  throw unnumberedManagementError('Category not available', hold.kind.details ?? 'No utility templates');
}

/** Throws when `count` exceeds the WABA's budget for this hour. */
export function requireCreationBudget(world: World, waba: Waba, count: number): void {
  if (world.creations.left(waba.id, world.clock.nowMs()) >= count) return;
  throw graphError(80007, '(#80007) There have been too many template creations for this business account', {
    transient: true,
  });
}

export function checkDefinition(
  world: World,
  given: Pick<Creation, 'category' | 'components' | 'parameter_format'> &
    Pick<Partial<Creation>, 'message_send_ttl_seconds' | 'optimization_spec'>,
): void {
  checkTimeToLive(given.category, given.message_send_ttl_seconds);
  checkOptimization(given.category, given.optimization_spec);
  checkComponents(
    {
      category: given.category,
      named: given.parameter_format === 'NAMED',
      mediumOf: (handle) => world.uploads.mediumOf(handle),
    },
    given.components,
  );
}

export function checkName({ name }: Pick<Creation, 'name'>): void {
  if (!/^[a-z0-9_]{1,512}$/.test(name)) {
    throw managementError(2388046, 'A name has 1 to 512 lower-case letters, digits and underscores');
  }
  if (name === 'hello_world' || name.startsWith('sample_')) {
    throw managementError(2388155, `The name ${name} is kept for sample templates`);
  }
}

/** Checks the language, the limit and the name, and that its languages share one category. */
export function checkPlace(
  world: World,
  waba: Waba,
  { name, language, category }: Pick<Creation, 'name' | 'language' | 'category'>,
): void {
  if (!Object.hasOwn(languages, language)) {
    throw graphError(100, `(#100) Param language must be a supported language - got "${language}".`);
  }
  const limit = templateLimitOf(waba);
  if (world.templates.countOf(waba.id) >= limit) {
    throw managementError(2388019, `This business account has all of its ${limit} templates`);
  }
  if (world.templates.find(waba.id, name, language) !== undefined) {
    throw managementError(2388024, `There is already ${language} content for this template`);
  }
  const lockedUntilMs = world.nameLocks.lockedUntilMs(waba.id, name, language, world.clock.nowMs());
  if (lockedUntilMs !== undefined) {
    const weeks = Math.ceil((lockedUntilMs - world.clock.nowMs()) / 604_800_000);
    throw managementError(
      2388023,
      `The ${language} content of ${name} is being deleted: try again in ${weeks} weeks or choose another name`,
    );
  }
  const present = categoryOf(world, waba, name);
  if (present !== undefined && present !== category) {
    throw unnumberedManagementError(
      'Category mismatch',
      `The other languages of ${name} are ${present}, and all languages of a name share one category`,
    );
  }
}

function categoryOf(world: World, waba: Waba, name: string): string | undefined {
  return world.templates.named(waba.id, name)[0]?.fields.category;
}

/** Returns the category after the platform's own classification, which a magic word triggers. */
function grantedCategory(world: World, waba: Waba, { name, category, components }: Creation): Category {
  const alone = categoryOf(world, waba, name) === undefined;
  return alone && category === 'UTILITY' && says(components, 'AS_MARKETING') ? 'MARKETING' : category;
}
