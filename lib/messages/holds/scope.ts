import { dropKindOf, type HoldKind, holdKindOf } from '../../platform/failure.ts';
import type { SendPath } from '../job.ts';
import type { ParkScope } from '../job-state.ts';

/*
 * What a hold can concern (D46): a WABA, the utility messages of it, a number of it, the marketing of that number,
 * or of it what leaves on the messages edge (D30), or a template.
 * The platform as a whole has an item of its own (breaker.ts).
 */

/** In the item of its WABA: a kind, and behind a colon which one. */
export type HoldScope =
  | 'waba'
  | 'utility'
  | `number:${string}`
  | `marketing:${string}`
  | `edge:${string}`
  | `template:${string}`;

/** What decides which holds concern a message, beside its WABA. */
export interface HoldableMessage {
  readonly category: string;
  readonly path: SendPath;
  readonly phoneNumberId: string;
  readonly templateName: string;
  readonly templateLanguage: string;
}

/** The scopes that a message is in, the widest first. */
export function scopesOf(message: HoldableMessage): HoldScope[] {
  const { category, path } = message;
  return [
    'waba',
    ...(category === 'UTILITY' ? (['utility'] as const) : []),
    numberScope(message),
    ...(category === 'MARKETING' ? [marketingScope(message)] : []),
    ...(category === 'MARKETING' && path === 'messages' ? [edgeScope(message)] : []),
    templateScope(message),
  ];
}

export function numberScope({ phoneNumberId }: Pick<HoldableMessage, 'phoneNumberId'>): HoldScope {
  return `number:${phoneNumberId}`;
}

function marketingScope({ phoneNumberId }: HoldableMessage): HoldScope {
  return `marketing:${phoneNumberId}`;
}

function edgeScope({ phoneNumberId }: HoldableMessage): HoldScope {
  return `edge:${phoneNumberId}`;
}

function templateScope({ templateName, templateLanguage }: HoldableMessage): HoldScope {
  return `template:${templateName}/${templateLanguage}`;
}

/** How wide a hold is, in the words that clients are told (D46). */
export function parkScopeOf(scope: HoldScope): ParkScope {
  if (scope.startsWith('template:')) return 'template';
  return scope === 'waba' || scope === 'utility' ? 'waba' : 'number';
}

/** Whether a hold with that code was opened by a refusal, and not by runs without an answer that says what became of their messages. */
export function isOfRefusal(code: string): boolean {
  return (holdKindOf(Number(code)) ?? dropKindOf(Number(code))) !== undefined;
}

/** What a refusal of this message holds; undefined of a refusal that holds nothing (platform reference, 6.4). */
export function scopeOfRefusal(code: number, message: HoldableMessage): HoldScope | undefined {
  return scopeOf(holdKindOf(code), message);
}

/** What a receipt holds that drops this message, which the platform had taken and held back (platform reference, 2.10). */
export function scopeOfDrop(code: number, message: HoldableMessage): HoldScope | undefined {
  return scopeOf(dropKindOf(code), message);
}

function scopeOf(kind: HoldKind | undefined, message: HoldableMessage): HoldScope | undefined {
  // A code that names a category, or an edge, is believed of its messages alone: only they are in such a scope.
  return scopesOf(message).find((scope) => scope.split(':')[0] === kind);
}
