/**
 * A change reaches one client, or all senders of a number or WABA (D55). `words` were said to a number and not to one
 * client: they reach its senders, and no client is told or shown them.
 */
export type Scope = ShownScope | { readonly kind: 'words'; readonly phoneNumberId: string; readonly wabaId: string };

/** An event or a row of a client's list may name it. */
export type ShownScope =
  | { readonly kind: 'client'; readonly clientId: number }
  | { readonly kind: 'number'; readonly phoneNumberId: string; readonly wabaId: string }
  | { readonly kind: 'waba'; readonly wabaId: string };

export type ShownScopeText = `client:${number}` | `number:${string}` | `waba:${string}`;
export type ScopeText = ShownScopeText | `words:${string}`;

export function textOf(scope: ShownScope): ShownScopeText;
export function textOf(scope: Scope): ScopeText;
export function textOf(scope: Scope): ScopeText {
  if (scope.kind === 'client') return `client:${scope.clientId}`;
  return scope.kind === 'waba' ? `waba:${scope.wabaId}` : `${scope.kind}:${scope.phoneNumberId}`;
}

export function kindOf(text: ShownScopeText): ShownScope['kind'] {
  return text.slice(0, text.indexOf(':')) as ShownScope['kind'];
}

export interface Sender {
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
}

/** Returns every scope whose stop concerns a message of the sender. */
export function scopesOf({ clientId, wabaId, phoneNumberId }: Sender): ScopeText[] {
  return [`client:${clientId}`, `number:${phoneNumberId}`, `waba:${wabaId}`, `words:${phoneNumberId}`];
}
