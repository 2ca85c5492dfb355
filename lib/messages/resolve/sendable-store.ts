import * as v from 'valibot';
import { type Did, didPattern } from '../../access/directory.ts';
import { DidItemSchema, didKey } from '../../access/directory-items.ts';
import { batchGetAcross } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import type { TemplateForSending, TemplateOfClient } from '../../templates/model/template.ts';
import { keysForSending, templateForSendingIn } from '../../templates/model/template-store.ts';

export interface Sendable {
  readonly did: Did | undefined;
  /** It is absent where it is not stored, and where it could not be read with the DID. */
  readonly template?: TemplateForSending | undefined;
}

/** Returns the DID that a send names, strongly consistent, in one DynamoDB request: its template comes along if it can. */
export type FindSendable = (asked: Omit<TemplateOfClient, 'wabaId'> & { readonly did: string }) => Promise<Sendable>;

/**
 * The key of a template has the WABA, which the DID's item says. So the store remembers the WABA of each DID that it has
 * found, and does not return a template of one that the DID has left since.
 */
export function sendableStore(
  access: Pick<Table, 'client' | 'pause'>,
  names: { readonly directory: string; readonly templates: string },
): FindSendable {
  const wabas = new Map<string, string>();
  return async ({ did: asked, ...wanted }) => {
    if (!didPattern.test(asked)) return { did: undefined };
    const wabaId = wabas.get(asked);
    const keys = {
      [names.directory]: [didKey(asked)],
      [names.templates]: wabaId === undefined ? [] : keysForSending({ ...wanted, wabaId }),
    };
    const found = await batchGetAcross(access, keys, { consistent: true });
    const did = v.parse(v.optional(DidItemSchema), found[names.directory]?.[0]);
    if (did === undefined) return { did };
    wabas.set(asked, did.waba.wabaId);
    if (did.waba.wabaId !== wabaId) return { did };
    return { did, template: templateForSendingIn(found[names.templates] ?? []) };
  };
}
