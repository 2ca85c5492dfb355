import * as v from 'valibot';
import { type QueriedTable, queryPages } from '../aws/dynamodb-batch.ts';
import { type AuditEntry, auditActs, auditPartition, monthsOf } from './entry.ts';

const Texts = v.array(v.string());
const OnSchema = v.partial(
  v.object({
    ...{ did: v.string(), wabaId: v.string(), templateId: v.string(), documentIds: Texts, dispatchId: v.string() },
    ...{ campaignId: v.number(), clientId: v.number(), credential: v.string() },
    ...{
      queue: v.string(),
      table: v.string(),
      eventType: v.string(),
      scope: v.string(),
      how: v.string(),
      count: v.number(),
    },
  }),
);

const ItemSchema = v.object({
  sk: v.string(),
  who: v.string(),
  ofClientId: v.optional(v.number()),
  what: v.picklist(auditActs),
  on: OnSchema,
  outcome: v.picklist(['done', 'unknown', 'begun', 'failed']),
  ends: v.optional(v.string()),
});

/** Reads the lines of a client, or of operators, in a period: the earliest first, page by page. */
export type ReadEntries = (
  whose: AuditEntry['whose'],
  period: { readonly fromMs: number; readonly toMs: number },
) => AsyncGenerator<AuditEntry[]>;

/** Reads the table `audit`, for operators alone. */
export function auditReader(table: QueriedTable): ReadEntries {
  return async function* entries(whose, period) {
    // Ids follow the time, and `~` follows every letter of an id.
    const sort = { from: new Date(period.fromMs).toISOString(), to: `${new Date(period.toMs).toISOString()}#~` };
    for (const month of monthsOf(period)) {
      for await (const page of queryPages(table, auditPartition(whose, month), { sort, consistent: true })) {
        yield page.map((item) => entryOf(whose, item));
      }
    }
  };
}

function entryOf(whose: AuditEntry['whose'], item: unknown): AuditEntry {
  const { sk, who, what, on, outcome, ofClientId, ends } = v.parse(ItemSchema, item);
  const [at = '', id = ''] = sk.split('#');
  return {
    ...{ whose, who, what, outcome, atMs: Date.parse(at), id },
    on: on as AuditEntry['on'],
    ofClientId,
    ends,
  };
}
