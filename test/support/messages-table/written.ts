/** A write leaves the item, undefined where there is none, and gives an answer. */
export interface Written<Item, Value> {
  readonly item: Item | undefined;
  readonly value: Value;
}

/** Each write of a port is a function of one item and of the port's arguments. */
export type WritesOf<Item, Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Value>
    ? (item: Item | undefined, ...args: Args) => Written<Item, Value>
    : never;
};

/** Applies a write that is known only by its name, as a call that a run waits for. */
export function writtenBy<Item>(writes: object, name: string, item: Item | undefined, args: readonly unknown[]) {
  const write = (writes as Record<string, (item: Item | undefined, ...args: readonly unknown[]) => unknown>)[name];
  if (write === undefined) throw new Error(`${name} is no write of this item`);
  return write(item, ...args) as Written<Item, unknown>;
}
