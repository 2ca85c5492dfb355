/** An update tells a status of a message, or news of a node (platform reference, 10.2). */
export type Update = StatusUpdate | NodeUpdate;

export interface StatusUpdate {
  readonly kind: 'status';
  readonly wabaId: string;
  readonly metadata: { readonly display_phone_number: string; readonly phone_number_id: string };
  /** A failure has no `contacts`. */
  readonly contacts?: readonly Contact[];
  readonly status: Readonly<Record<string, unknown>>;
}

/** A webhook names a person by number only where the business knows it (platform reference, 4.5). */
export interface Contact {
  readonly wa_id?: string;
  readonly user_id: string;
  readonly parent_user_id?: string;
  readonly profile?: { readonly name?: string; readonly username?: string };
}

export interface NodeUpdate {
  readonly kind: 'node';
  readonly wabaId: string;
  readonly field: string;
  readonly value: unknown;
}

export function fieldOf(update: Update): string {
  return update.kind === 'status' ? 'messages' : update.field;
}
