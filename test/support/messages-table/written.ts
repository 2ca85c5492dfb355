/** What a write leaves in the item that it is about, undefined where there is none then, and what it answers. */
export interface Written<Item, Value> {
  readonly item: Item | undefined;
  readonly value: Value;
}

/** The writes of a port, each as a function of the one item that it is about: what is there, and what the port is given. */
export type WritesOf<Item, Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Value>
    ? (item: Item | undefined, ...args: Args) => Written<Item, Value>
    : never;
};

/** The same write where only its name says which one it is: that of a call which a run waits for. */
export function writtenBy<Item>(writes: object, name: string, item: Item | undefined, args: readonly unknown[]) {
  const write = (writes as Record<string, (item: Item | undefined, ...args: readonly unknown[]) => unknown>)[name];
  if (write === undefined) throw new Error(`${name} is no write of this item`);
  return write(item, ...args) as Written<Item, unknown>;
}
