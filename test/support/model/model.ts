import { expect } from 'vitest';
import { type ClientId, clientsOf, eachPairOnce, type Pair, type Slot, samePair, slotKey, wabas } from './setting.ts';
import { UpstreamModel, type UpstreamTemplate } from './upstream.ts';

/** The service chooses a stored document's `_id`: undefined until an answer contains it. */
export interface ModelDocument {
  id: string | undefined;
  readonly pair?: Pair;
}

export interface Kept {
  active: boolean;
  /** The oldest is first; a document without a pair is the placeholder. */
  documents: ModelDocument[];
}

export interface StoredTemplate {
  readonly slot: Slot;
  /** The listing shows this as `platform_template`. */
  shown: Shown;
  deleted: boolean;
  /** The service sent this and has not read it from the platform since. */
  asSent: boolean;
  readonly kept: ReadonlyMap<number, Kept>;
}

export interface Shown {
  readonly id: string;
  readonly status: string;
  readonly components: readonly { readonly type: 'BODY'; readonly text: string }[];
  readonly [field: string]: unknown;
}

const monthMs = 30 * 24 * 3_600_000;

/** The model is the service by contract and decisions (D12 to D22), in plain maps, beside its platform. */
export class Model {
  nowMs: number;
  readonly upstream = new UpstreamModel();
  /** Each slot has its current template. */
  readonly stored = new Map<string, StoredTemplate>();
  /** The slots of these deleted templates have another template now. */
  readonly archived: StoredTemplate[] = [];
  readonly #heldUntilMs = new Map<string, number>();
  readonly #idsSeen = new Set<string>();

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  letPass(ms: number): void {
    this.nowMs += ms;
    this.upstream.settle(this.nowMs);
  }

  /** Learns a document's `_id` from an answer: its earlier id, or a new id. */
  learnId(document: ModelDocument, id: string): void {
    if (document.id === undefined) {
      expect([...this.#idsSeen], 'a new document has an _id of its own').not.toContain(id);
      this.#idsSeen.add(id);
      document.id = id;
    }
    expect(id).toBe(document.id);
  }

  /** Returns ids that once named a document and name none now. */
  idsOfThePast(): string[] {
    return [...this.#idsSeen].filter((id) => this.named(id) === undefined);
  }

  /** Returns the existing template with a document of this `_id`, and the client of that document (D12). */
  named(id: string): { readonly template: StoredTemplate; readonly ownerId: number } | undefined {
    for (const template of this.stored.values()) {
      for (const [ownerId, { documents }] of template.kept) {
        if (!template.deleted && documents.some((document) => document.id === id)) return { template, ownerId };
      }
    }
    return undefined;
  }

  /**
   * Tells whether a template has the name, or an approved one was deleted within 30 days: in this language, or in any
   * when no language has the name now (D18).
   */
  nameIsTaken(slot: Slot): boolean {
    const key = slotKey(slot);
    if (this.stored.get(key)?.deleted === false || this.#isHeld(key)) return true;
    const { wabaId, name } = slot;
    const isLive = [...this.stored.values()].some(
      (each) => !each.deleted && each.slot.wabaId === wabaId && each.slot.name === name,
    );
    return !isLive && this.#isHeld(`${wabaId} ${name}`);
  }

  #isHeld(key: string): boolean {
    return (this.#heldUntilMs.get(key) ?? 0) > this.nowMs;
  }

  /** Stores a creation: the creator gets its pairs, every other client gets the placeholder (D13). */
  storeCreated(created: UpstreamTemplate, creatorId: ClientId, pairs: readonly Pair[]): void {
    const before = this.stored.get(slotKey(created.slot));
    if (before !== undefined) this.archived.push(before);
    const { quality_score: _, rejected_reason: __, ...shown } = shownOf(created);
    const template = this.#add(created.slot, shown);
    template.asSent = true;
    const creator = template.kept.get(creatorId);
    if (creator !== undefined) creator.documents = changed(creator.documents, 'add', pairs);
  }

  storeEdited(template: StoredTemplate, text: string): void {
    const { rejected_reason: _, ...shown } = template.shown;
    template.shown = { ...shown, status: 'PENDING', components: [{ type: 'BODY', text }] };
    template.asSent = true;
  }

  storeDeleted(template: StoredTemplate, status: string): void {
    template.deleted = true;
    const { wabaId, name } = template.slot;
    if (status !== 'APPROVED') return;
    for (const key of [slotKey(template.slot), `${wabaId} ${name}`]) this.#heldUntilMs.set(key, this.nowMs + monthMs);
  }

  /**
   * Synchronizes all WABAs of the client: every client of a WABA gets the platform's facts, and no client's own data
   * changes (D22).
   */
  synchronize(clientId: ClientId): void {
    for (const waba of wabas.filter((each) => each.clientIds.includes(clientId))) {
      for (const template of this.stored.values()) {
        if (template.slot.wabaId === waba.wabaId && this.upstream.at(template.slot) === undefined)
          template.deleted = true;
      }
      for (const current of this.upstream.ofWaba(waba.wabaId)) this.store(current);
    }
  }

  store(current: UpstreamTemplate): void {
    const template = this.stored.get(slotKey(current.slot)) ?? this.#add(current.slot, shownOf(current));
    template.shown = shownOf(current);
    template.deleted = current.status === 'PENDING_DELETION';
    template.asSent = false;
  }

  #add(slot: Slot, shown: Shown): StoredTemplate {
    const kept = new Map(
      clientsOf(slot.wabaId).map((ownerId) => [ownerId, { active: true, documents: [{ id: undefined }] }]),
    );
    const template = { slot, shown, deleted: false, asSent: false, kept };
    this.stored.set(slotKey(slot), template);
    return template;
  }
}

/** Returns the listing's view of a platform template. */
function shownOf({ slot, id, status, text, reason, quality = 'UNKNOWN' }: UpstreamTemplate): Shown {
  return {
    id,
    name: slot.name,
    language: slot.language,
    status,
    category: 'UTILITY',
    components: [{ type: 'BODY', text }],
    quality_score: { score: quality },
    ...(reason === undefined || reason === 'NONE' ? {} : { rejected_reason: reason }),
  };
}

export type AssignmentKind = 'add' | 'replace' | 'remove';

/**
 * Returns the documents after POST, PUT or DELETE of channel-campaigns (D14). When no pair remains, the oldest document
 * becomes the first new pair or the placeholder.
 */
export function changed(
  documents: readonly ModelDocument[],
  kind: AssignmentKind,
  pairs: readonly Pair[],
): ModelDocument[] {
  const wanted = kind === 'remove' ? [] : eachPairOnce(pairs);
  const has = (pair: Pair) => documents.some((document) => samePair(document.pair, pair));
  const isWanted = (pair: Pair) => wanted.some((other) => samePair(other, pair));
  const kept = documents.filter(({ pair }) => pair !== undefined && (kind === 'add' || isWanted(pair)));
  const added: ModelDocument[] = wanted.filter((pair) => !has(pair)).map((pair) => ({ id: undefined, pair }));
  if (kept.length > 0) return [...kept, ...added];
  const id = documents[0]?.id;
  const [first, ...rest] = added;
  return first === undefined ? [{ id }] : [{ ...first, id }, ...rest];
}
