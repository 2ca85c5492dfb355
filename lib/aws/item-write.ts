// A conditional write of one item is data. `after` says what it does, `updateOf` puts it to DynamoDB, and a table of
// states and writes holds the two together, and both to what they promise.

/** Paths name attributes, with dots within maps: `stop.atMs`. */
export type Condition =
  | { readonly is: 'absent' | 'present'; readonly path: string }
  | { readonly is: '=' | '<' | '<=' | '>'; readonly path: string; readonly value: string | number }
  | { readonly anyOf: readonly (readonly Condition[])[] };

export const absent = (path: string): Condition => ({ is: 'absent', path });
export const present = (path: string): Condition => ({ is: 'present', path });
export const equals = (path: string, value: string | number): Condition => ({ is: '=', path, value });
export const below = (path: string, value: number): Condition => ({ is: '<', path, value });
export const atMost = (path: string, value: number): Condition => ({ is: '<=', path, value });
export const above = (path: string, value: number): Condition => ({ is: '>', path, value });

/** Holds when one of the alternatives does; all conditions of an alternative must hold. */
export const anyOf = (...alternatives: readonly (readonly Condition[])[]): Condition => ({ anyOf: alternatives });

class UnlessThere<Value> {
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** Sets an attribute that the item does not have yet; an existing value stays. */
export const unlessThere = <Value>(value: Value) => new UnlessThere(value);

type Attributes = Readonly<Record<string, unknown>>;
type Settable<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | UnlessThere<Fields[Name]> };

/** A write of an item with these fields. An item that is not there has none of them, and the write makes it. */
export interface ItemWrite<Fields = Attributes> {
  /** The item is written only if all of them hold. */
  readonly if: readonly Condition[];
  /** What is undefined is left out. A path into a map needs a condition that the map is there. */
  readonly set?: Settable<Fields> & { readonly [path: `${string}.${string}`]: unknown };
  readonly remove?: readonly (keyof Fields & string)[];
  /** These members come into sets. */
  readonly add?: { readonly [Name in keyof Fields]?: Fields[Name] };
  /** A refused write counts as written if these hold: the SDK has repeated it after a lost reply. */
  readonly own?: readonly Condition[];
}

export interface AfterWrite<Fields> {
  readonly written: boolean;
  /** The item after the write, or the one that refused it. */
  readonly item: Fields | undefined;
}

/** Returns what a write makes of an item, as DynamoDB does. */
export function after<Fields extends object>(write: ItemWrite<Fields>, item: Fields | undefined): AfterWrite<Fields> {
  if (!write.if.every((condition) => holds(condition, item))) return refusedBy(write, item);
  const next: Record<string, unknown> = { ...item };
  for (const [path, value] of given(write.set)) {
    const [name = '', inner] = path.split('.');
    if (inner !== undefined) next[name] = { ...(next[name] as Attributes), [inner]: value };
    else if (!(value instanceof UnlessThere)) next[name] = value;
    else next[name] ??= value.value;
  }
  for (const [name, members] of given(write.add)) {
    next[name] = new Set([...((next[name] as Iterable<unknown> | undefined) ?? []), ...(members as Iterable<unknown>)]);
  }
  for (const name of write.remove ?? []) delete next[name];
  return { written: true, item: next as Fields };
}

/** Returns the answer of a refused write, by the item that it has met. */
export function refusedBy<Fields extends object>(
  { own }: ItemWrite<Fields>,
  item: Fields | undefined,
): AfterWrite<Fields> {
  return { written: own?.every((condition) => holds(condition, item)) ?? false, item };
}

function holds(condition: Condition, item: object | undefined): boolean {
  if ('anyOf' in condition) return condition.anyOf.some((all) => all.every((one) => holds(one, item)));
  const found = at(item, condition.path);
  if (!('value' in condition)) return (found === undefined) === (condition.is === 'absent');
  if (found === undefined) return false;
  if (condition.is === '=') return found === condition.value;
  if (condition.is === '>') return found > condition.value;
  return condition.is === '<' ? found < condition.value : found <= condition.value;
}

function at(item: object | undefined, path: string): string | number | undefined {
  return path.split('.').reduce<unknown>((map, name) => (map as Attributes | undefined)?.[name], item) as
    | string
    | number
    | undefined;
}

/** Returns the parameters of an UpdateItem request that does the same. */
export function updateOf<Fields>(write: ItemWrite<Fields>) {
  const { expressed, named, valued, aliases } = expressions();
  const clauses = {
    SET: given(write.set).map(([path, value]) => {
      const name = named(path);
      return value instanceof UnlessThere
        ? `${name} = if_not_exists(${name}, ${valued(value.value)})`
        : `${name} = ${valued(value)}`;
    }),
    REMOVE: (write.remove ?? []).map(named),
    ADD: given(write.add).map(([name, members]) => `${named(name)} ${valued(members)}`),
  };
  const UpdateExpression = Object.entries(clauses)
    .flatMap(([verb, parts]) => (parts.length === 0 ? [] : [`${verb} ${parts.join(', ')}`]))
    .join(' ');
  const conditions = write.if.map(expressed);
  const ConditionExpression = conditions.length === 0 ? undefined : conditions.join(' AND ');
  return { UpdateExpression, ConditionExpression, ...aliases() };
}

/** Returns the parameters of a ConditionCheck of a transaction. There is at least one condition. */
export function checkOf(conditions: readonly Condition[]) {
  const { expressed, aliases } = expressions();
  return { ConditionExpression: conditions.map(expressed).join(' AND '), ...aliases() };
}

/** Every name has an alias, because DynamoDB reserves some hundred words. */
function expressions() {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const named = (path: string) => {
    const parts = path.split('.');
    for (const part of parts) names[`#${part}`] = part;
    return parts.map((part) => `#${part}`).join('.');
  };
  const valued = (value: unknown) => {
    const name = `:${Object.keys(values).length}`;
    values[name] = value;
    return name;
  };
  const expressed = (condition: Condition): string => {
    if ('anyOf' in condition) return `(${condition.anyOf.map((all) => all.map(expressed).join(' AND ')).join(' OR ')})`;
    const path = named(condition.path);
    if ('value' in condition) return `${path} ${condition.is} ${valued(condition.value)}`;
    return `attribute_${condition.is === 'present' ? 'exists' : 'not_exists'}(${path})`;
  };
  const aliases = () => ({
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: Object.keys(values).length === 0 ? undefined : values,
  });
  return { named, valued, expressed, aliases };
}

function given(fields: object | undefined): [string, unknown][] {
  return Object.entries(fields ?? {}).filter(([, value]) => value !== undefined);
}
