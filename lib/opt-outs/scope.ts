/** A change reaches one client, all senders of a number, or all senders of a WABA (D55). */
export type Scope =
  | { readonly kind: 'client'; readonly clientId: number }
  | { readonly kind: 'number'; readonly phoneNumberId: string; readonly wabaId: string }
  | { readonly kind: 'waba'; readonly wabaId: string };

export type ScopeText = `client:${number}` | `number:${string}` | `waba:${string}`;

export function textOf(scope: Scope): ScopeText {
  if (scope.kind === 'client') return `client:${scope.clientId}`;
  return scope.kind === 'number' ? `number:${scope.phoneNumberId}` : `waba:${scope.wabaId}`;
}

export function kindOf(text: ScopeText): Scope['kind'] {
  return text.slice(0, text.indexOf(':')) as Scope['kind'];
}

export interface Sender {
  readonly clientId: number;
  readonly wabaId: string;
  readonly phoneNumberId: string;
}

/** Returns every scope whose stop concerns a message of the sender. */
export function scopesOf({ clientId, wabaId, phoneNumberId }: Sender): ScopeText[] {
  return [`client:${clientId}`, `number:${phoneNumberId}`, `waba:${wabaId}`];
}
