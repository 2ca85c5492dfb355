import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type Item, type TableAccess } from '../aws/dynamodb-batch.ts';
import { changeVersioned, type VersionedItem } from '../aws/versioned-item.ts';
import type { OptOutChange } from './entry.ts';
import { listedKey, markKey, markKeysOf, nameOfPerson, personKey } from './opt-out-items.ts';
import { noOptOuts, type PersonOptOuts, stopFor } from './person.ts';
import type { NameOf, PersonName, Recipient } from './person-name.ts';
import type { OptOutPorts } from './record-opt-out.ts';
import type { Sender } from './scope.ts';

const wordOf = <const From extends string>(sources: readonly From[]) =>
  v.object({ says: v.picklist(['stopped', 'started']), atMs: v.number(), source: v.picklist(sources) });

const EntrySchema = v.object({
  said: v.optional(wordOf(['platform', 'refused', 'reply', 'quick_reply'])),
  told: v.optional(wordOf(['api', 'import'])),
});

const PersonSchema = v.object({
  entries: v.record(v.string(), EntrySchema),
  names: v.array(v.string()),
  became: v.record(v.string(), v.number()),
});

/** A person has a webhook or two and a client as writers. One that loses more often leaves its delivery to a retry. */
const mostTries = 8;

/**
 * A worker looks up before it calls a slice's recipients. Reads are strongly consistent; they throw when the store
 * fails.
 */
export interface OptOutLook {
  /** Tells whether a recipient of this sender may be stopped. `markKeysOf` serves reads together with other items. */
  anyFor(sender: Sender): Promise<boolean>;
  /** Returns the stops for these recipients: one item each, a hundred in a batch request. */
  stoppedAmong(sender: Sender, recipients: readonly Recipient[]): Promise<ReadonlyMap<Recipient, OptOutChange>>;
}

/**
 * Writes opt-outs (record-opt-out.ts). A writer that loses too many races throws, and its delivery is retried.
 * `mostlyNew` writes before it reads: one request for a new person, a refused one for a known one.
 */
export function optOutWriter(
  messages: TableAccess,
  nameOf: NameOf,
  { mostlyNew = false, nowMs = Date.now }: { readonly mostlyNew?: boolean; readonly nowMs?: () => number } = {},
): OptOutPorts {
  const { client, name: table, pause } = messages;
  // Marks are never removed, so an import of a million rows writes one.
  const marked = new Set<string>();
  return {
    nameOf,

    mark: async (scope) => {
      const key = markKey(scope);
      if (marked.has(key.pk)) return;
      await client.send(new PutCommand({ TableName: table, Item: key }));
      marked.add(key.pk);
    },

    change: async (name, rule) => {
      const seen = mostlyNew ? { state: noOptOuts, version: 0 } : undefined;
      const changed = await changeVersioned(personItem(messages, name), rule, { seen, mostTries, pause });
      if (changed === undefined) throw new Error('a person has too many writers');
      return changed;
    },

    list: async (clientId, { name, recipient }) => {
      const row = new UpdateCommand({
        TableName: table,
        Key: listedKey(clientId, name),
        UpdateExpression: 'SET recipient = :recipient, listedAtMs = if_not_exists(listedAtMs, :now)',
        ExpressionAttributeValues: { ':recipient': recipient, ':now': nowMs() },
      });
      await client.send(row);
    },
  };
}

/** Reads opt-outs without the right to write. `names` is called with the first person. */
export function optOutLook(messages: TableAccess, names: () => Promise<NameOf>): OptOutLook {
  return {
    anyFor: async (sender) => (await batchGet(messages, markKeysOf(sender), { consistent: true })).length > 0,

    stoppedAmong: async (sender, recipients) => {
      const nameOf = await names();
      const named = new Map(recipients.map((recipient) => [recipient, nameOf(recipient)]));
      const keys = [...new Set(named.values())].map(personKey);
      const items = await batchGet(messages, keys, { consistent: true });
      const people = new Map(items.map((item) => [nameOfPerson(item['pk']), personOf(item)]));
      const stops = new Map<Recipient, OptOutChange>();
      for (const [recipient, name] of named) {
        const stop = stopFor(people.get(name) ?? noOptOuts, sender);
        if (stop !== undefined) stops.set(recipient, stop);
      }
      return stops;
    },
  };
}

function personItem(table: TableAccess, name: PersonName): VersionedItem<PersonOptOuts> {
  return {
    ...{ table, key: personKey(name) },
    stateOf: personOf,
    itemOf: ({ entries, names, became }) => ({ entries, names, became }),
  };
}

/** Returns a person's state. Throws on an item of another form, so that no such person counts as free. */
export function personOf(item: Item | undefined): PersonOptOuts {
  if (item === undefined) return noOptOuts;
  const { entries, names, became } = v.parse(PersonSchema, item);
  return { entries, names, became };
}
