/** One thing that the platform tells by webhook (platform reference, 10.2): a status of one message, or news of a node. */
export type Update = StatusUpdate | NodeUpdate;

export interface StatusUpdate {
  readonly kind: 'status';
  readonly wabaId: string;
  /** The number that sent the message. */
  readonly metadata: { readonly display_phone_number: string; readonly phone_number_id: string };
  readonly status: Readonly<Record<string, unknown>>;
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
