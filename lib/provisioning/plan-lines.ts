import { isDeepStrictEqual } from 'node:util';
import { didSortKey } from '../access/directory-items.ts';
import { stopWordListKey } from '../opt-outs/stop-word-list.ts';
import type { PlatformCredentials } from '../platform/credential-groups.ts';
import type { PlatformApps } from '../platform/webhook/apps.ts';
import { entityOf } from './provisioned-entity.ts';
import type { Attributes, ItemPlace } from './provisioned-items.ts';

/** The line of a changed entry names fields, never values that may be secret. */
export interface PlanLine {
  readonly change: 'added' | 'changed' | 'removed';
  readonly kind: string;
  readonly name: string;
  /** A changed entry has them, spelled as in the file. */
  readonly fields: readonly string[];
}

type Item = ItemPlace & { readonly attributes: Attributes };

interface Side {
  readonly items: readonly Item[];
  readonly platformCredentials: PlatformCredentials;
  readonly platformApps: PlatformApps;
}

interface View {
  readonly kind: string;
  readonly name: string;
  readonly attributes: Attributes;
}

/** Returns one line for every changed entry: first the file's in its order, then the removed ones by name. */
export function planLines(plan: {
  readonly stored: Side;
  readonly wanted: Side;
  readonly gone: readonly Item[];
  readonly differing: readonly Item[];
}): PlanLine[] {
  const before = viewsOf(plan.stored);
  const after = viewsOf(plan.wanted);
  const touched = new Set([...plan.gone, ...plan.differing].map(titleOf));
  const present = [...after].flatMap(([title, view]): PlanLine[] => {
    const old = before.get(title);
    const { kind, name } = view;
    if (old === undefined) return [{ change: 'added', kind, name, fields: [] }];
    const fields = changedFields(old.attributes, view.attributes);
    return fields.length > 0 || touched.has(title) ? [{ change: 'changed', kind, name, fields }] : [];
  });
  const removed = [...before]
    .filter(([title]) => !after.has(title))
    .map(([, { kind, name }]): PlanLine => ({ change: 'removed', kind, name, fields: [] }))
    .sort((a, b) => lineText(a).localeCompare(lineText(b), 'en', { numeric: true }));
  const relisted = [...plan.gone, ...plan.differing].filter(({ table }) => table === 'channels').length;
  const listing: PlanLine = { change: 'changed', kind: 'listing', name: 'of channels', fields: [`${relisted} items`] };
  return [...present, ...removed, ...(relisted === 0 ? [] : [listing])];
}

/** Spells a line for a terminal. A change without fields repairs copies that an earlier run left. */
export function lineText({ change, kind, name, fields }: PlanLine): string {
  const sign = { added: '+', changed: '~', removed: '-' }[change];
  if (change !== 'changed') return `${sign} ${kind} ${name}`;
  return `${sign} ${kind} ${name}: ${fields.length === 0 ? 'copies' : fields.join(', ')}`;
}

function viewsOf({ items, platformCredentials, platformApps }: Side): Map<string, View> {
  const views = new Map<string, View>();
  for (const item of items) {
    const entity = entityOf(item);
    if (entity === undefined) continue;
    const { kind, name } = entity;
    const attributes = { ...views.get(titleOf(item))?.attributes, ...attributesShown(item) };
    views.set(titleOf(item), { kind, name, attributes });
  }
  for (const [name, attributes] of Object.entries(platformCredentials)) {
    views.set(`platform credential ${name}`, { kind: 'platform credential', name, attributes });
  }
  for (const [name, app] of Object.entries(platformApps)) {
    // The field is always present, so that a line shows its removal.
    const attributes = { previousAppSecret: undefined, ...app };
    views.set(`platform app ${name}`, { kind: 'platform app', name, attributes });
  }
  return views;
}

/** The copy under a DID shows only its own parts: the WABA and the sending account. The channel shows the rest. */
function attributesShown({ key, attributes }: Item): Attributes {
  if (key.pk === stopWordListKey.pk) {
    // The lists are always present, so that a line shows a removal.
    const lists = { stop: undefined, start: undefined, stopButtons: undefined };
    return { ...lists, ...(attributes as { readonly words?: Attributes }).words };
  }
  if (key.sk !== didSortKey) return attributes;
  const { waba = {}, channel = {} } = attributes as { readonly waba?: Attributes; readonly channel?: Attributes };
  // Budgets and account are always present, so that a line shows their removal.
  const named = { monthlyBudgets: undefined, ...waba };
  const ofWaba = Object.entries(named).map(([name, value]) => [`waba.${name}`, value]);
  return { ...Object.fromEntries(ofWaba), messagingAccountId: channel['messagingAccountId'] };
}

function titleOf(item: Item): string {
  const entity = entityOf(item);
  return `${entity?.kind} ${entity?.name}`;
}

function changedFields(before: Attributes, after: Attributes): string[] {
  const names = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return [...new Set(names.map(spelledAsInFile))];
}

function spelledAsInFile(name: string): string {
  if (name === 'passwordHash' || name === 'givenHash') return 'password';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
