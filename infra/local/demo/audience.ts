/** The demo template `order_update` has a body with two variables and one URL button. */
export interface Recipient {
  readonly to: string;
  readonly params: { readonly body: readonly [string, string]; readonly buttons: readonly [string] };
}

/** The DID below may send the audience's template. */
export const orderUpdate = { name: 'order_update', language: 'en_US' } as const;
export const demoDid = '5491100000001';

/**
 * Returns at most 100,000 recipients, each with its own parameters. Audiences of different runs (below 10^8) share only
 * `known`, which come first.
 */
export function audience(count: number, run: number, known: readonly string[] = []): Recipient[] {
  const prefix = `54${String(run).padStart(8, '0')}`;
  return Array.from({ length: count }, (_, index) => {
    const order = `${run}-${index}`;
    return {
      to: known[index] ?? `${prefix}${String(index).padStart(5, '0')}`,
      params: { body: [`Customer ${index}`, order], buttons: [order] },
    };
  });
}

/** Returns what the platform must have received for a recipient (platform reference, section 4). */
export function expectedComponents({ params }: Recipient): unknown {
  const texts = (values: readonly string[]) => values.map((text) => ({ type: 'text', text }));
  return [
    { type: 'body', parameters: texts(params.body) },
    { type: 'button', sub_type: 'url', index: 0, parameters: texts(params.buttons) },
  ];
}
