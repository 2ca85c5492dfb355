import { dropKindOf, type HoldKind, holdKindOf } from '../../platform/failure.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { DispatchParked } from '../dispatch/item.ts';

/*
 * A hold can concern a WABA, its utility messages, a number, that number's marketing, its marketing on the messages
 * endpoint (D30), or a template (D46).
 */

/** The key in the WABA's item is a kind, and its name after a colon. */
export type HoldScope =
  | 'waba'
  | 'utility'
  | `number:${string}`
  | `marketing:${string}`
  | `edge:${string}`
  | `template:${string}`;

export type HoldableMessage = Pick<
  DispatchHead,
  'category' | 'path' | 'phoneNumberId' | 'templateName' | 'templateLanguage'
>;

/** Returns the scopes of a message, the widest first. */
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

export function templateScope({
  templateName,
  templateLanguage,
}: Pick<HoldableMessage, 'templateName' | 'templateLanguage'>): HoldScope {
  return `template:${templateName}/${templateLanguage}`;
}

/** Returns the template that a scope names, if it is one of a template. */
export function templateOfScope(scope: HoldScope): { readonly name: string; readonly language: string } | undefined {
  const [, name, language] = /^template:(.+)\/([^/]+)$/.exec(scope) ?? [];
  return name === undefined || language === undefined ? undefined : { name, language };
}

/** Returns the scope of a hold in the words of events and reports (D46). */
export function parkScopeOf(scope: HoldScope): DispatchParked['scope'] {
  if (scope.startsWith('template:')) return 'template';
  return scope === 'waba' || scope === 'utility' ? 'waba' : 'number';
}

/** Tells whether a refusal opened a hold with this code, not silent runs. */
export function isOfRefusal(code: string): boolean {
  return (holdKindOf(Number(code)) ?? dropKindOf(Number(code))) !== undefined;
}

/** Returns the scope that a refusal of this message holds, if any (platform reference, 6.4). */
export function scopeOfRefusal(code: number, message: HoldableMessage): HoldScope | undefined {
  return scopeOf(holdKindOf(code), message);
}

/**
 * Returns the scope that a receipt holds when it drops a message that the platform had taken and held back (platform
 * reference, 2.10).
 */
export function scopeOfDrop(code: number, message: HoldableMessage): HoldScope | undefined {
  return scopeOf(dropKindOf(code), message);
}

function scopeOf(kind: HoldKind | undefined, message: HoldableMessage): HoldScope | undefined {
  // A code for a category or endpoint counts only for its own messages: only they have such a scope.
  return scopesOf(message).find((scope) => scope.split(':')[0] === kind);
}
