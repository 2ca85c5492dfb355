import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { StoredFact } from '../../templates/model/template.ts';
import { templateKey } from '../../templates/model/template-key.ts';
import type { TemplateStore } from '../../templates/model/template-store.ts';
import { type HoldRule, type Holds, inReviewCode, madeMarketing, madeOtherThanMarketing, opened } from './hold.ts';
import { endedByReading } from './hold-ends.ts';
import type { HoldsOfWabas } from './hold-store.ts';
import { openHold } from './open-hold.ts';
import { notThereCode } from './run-holds.ts';
import { type HoldScope, templateOfScope, templateScope } from './scope.ts';

/*
 * What the platform says of a template, or a client's edit, stops its messages at once (D42, D46): a hold that no
 * message probes. A reading of the template ends it.
 */

export interface TemplateName {
  readonly name: string;
  readonly language: string;
}

/** The word makes a template stricter: it has a status that allows no send, or is MARKETING. */
export interface StricterWord {
  readonly status?: string;
  readonly category?: 'MARKETING';
}

export interface TemplateHoldPorts {
  readonly holds: Pick<HoldsOfWabas, 'find' | 'change'>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

const codeOfStatus: Readonly<Record<string, string>> = { PAUSED: '132015', DISABLED: '132016', PENDING: inReviewCode };

/** Holds the messages of a template by a word about it. Is idempotent. Throws when the store cannot be reached. */
export async function heedWord(
  { wabaId, ...template }: TemplateName & { readonly wabaId: string },
  { status, category }: StricterWord,
  { holds, nowMs, log }: TemplateHoldPorts,
): Promise<void> {
  const scope = scopeOf(template);
  const atMs = nowMs();
  if (category !== undefined) await changed(holds, wabaId, madeMarketing(scope, atMs));
  if (status === undefined) return;
  // The platform refuses a template of any other status as one that is not there (FACTS, 6.4).
  const rule = opened(scope, { code: codeOfStatus[status] ?? String(notThereCode), nowMs: atMs, byReading: true });
  await openHold({ wabaId, scope, atMs, rule }, { change: (id, how) => changed(holds, id, how), log });
}

async function changed(holds: Pick<HoldsOfWabas, 'change'>, wabaId: string, rule: HoldRule): Promise<Holds> {
  const after = await holds.change(wabaId, rule);
  if (after === undefined) throw new Error(`the holds of ${wabaId} could not be changed`);
  return after;
}

/**
 * Ends what readings of a WABA's templates have lifted: holds of templates that are APPROVED, and the category of those
 * that are not MARKETING. A reading must be younger than the word. Throws when a store cannot be reached.
 */
export async function heedReadings(
  wabaId: string,
  ports: TemplateHoldPorts & { readonly templates: Pick<TemplateStore, 'storedFacts'> },
): Promise<void> {
  const { holds, marketingMs = {} } = await ports.holds.find(wabaId);
  const held = Object.entries(holds).flatMap(([scope, hold]) =>
    hold?.byReading ? [[scope, hold.sinceMs] as const] : [],
  );
  const words = [...held, ...Object.entries(marketingMs)].flatMap(([scope, sinceMs = 0]) => {
    const template = templateOfScope(scope as HoldScope);
    return template === undefined
      ? []
      : [{ scope: scope as HoldScope, sinceMs, key: templateKey({ wabaId, ...template }) }];
  });
  const keys = [...new Set(words.map(({ key }) => key))];
  const facts = new Map<string, StoredFact>();
  for (let at = 0; at < keys.length; at += factsAtOnce) {
    for (const [key, fact] of await ports.templates.storedFacts(keys.slice(at, at + factsAtOnce))) facts.set(key, fact);
  }
  const rules = words.flatMap(({ scope, sinceMs, key }) => liftedBy(facts.get(key), { scope, sinceMs }, ports.nowMs()));
  if (rules.length === 0) return;
  const before = Object.keys(holds);
  const after = await changed(ports.holds, wabaId, (all) => rules.reduce((next, rule) => rule(next), all));
  for (const scope of before) {
    if (after.holds[scope as HoldScope] === undefined) ports.log('hold.ended', { wabaId, scope });
  }
}

const factsAtOnce = 100;

function liftedBy(
  fact: StoredFact | undefined,
  { scope, sinceMs }: { readonly scope: HoldScope; readonly sinceMs: number },
  nowMs: number,
): HoldRule[] {
  if (fact === undefined || fact.deleted || fact.readAtMs <= sinceMs) return [];
  return [
    ...(fact.template.status === 'APPROVED' ? [endedByReading(scope, sinceMs, nowMs)] : []),
    ...(fact.template.category.toUpperCase() === 'MARKETING' ? [] : [madeOtherThanMarketing(scope)]),
  ];
}

function scopeOf({ name, language }: TemplateName): HoldScope {
  return templateScope({ templateName: name, templateLanguage: language });
}
