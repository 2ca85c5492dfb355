import type { Target } from '../../infra/operate/target.ts';
import type { TableName } from '../../infra/tables.ts';

interface Input {
  readonly TableName?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string } | undefined>>[];
}

/** An action of a transaction needs this verb. */
const verbOfAction: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/**
 * Records the verbs that a target's client is asked for from now on, as IAM names them, by table: those of `tables`
 * alone.
 */
export function recordedTables(
  { documentClient, tableName }: Pick<Target, 'documentClient' | 'tableName'>,
  tables: readonly TableName[],
): Map<string, Set<string>> {
  const recorded = new Map<string, Set<string>>();
  const names = new Map(tables.map((table) => [tableName(table), table]));
  const note = (physical: string, verb: string) => {
    const table = names.get(physical) ?? physical;
    recorded.set(table, (recorded.get(table) ?? new Set()).add(verb));
  };
  documentClient.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        const { TableName, RequestItems = {}, TransactItems = [] } = args.input as Input;
        const verb = commandName.replace(/Command$/, '');
        if (TableName !== undefined) note(TableName, verb);
        for (const each of Object.keys(RequestItems)) note(each, verb);
        for (const item of TransactItems) {
          for (const [action, on] of Object.entries(item)) {
            if (on !== undefined) note(on.TableName, verbOfAction[action] ?? action);
          }
        }
        return next(args);
      },
    { step: 'initialize' },
  );
  return recorded;
}
