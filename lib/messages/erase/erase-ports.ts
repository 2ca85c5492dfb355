import type { Item } from '../../aws/dynamodb-batch.ts';
import type { PersonIds } from './person.ts';
import type { Rewriter } from './rewrite-store.ts';

export const dispatchPlaces = ['addresses', 'parameters', 'outcomes', 'receipts', 'shared'] as const;
export type DispatchPlace = (typeof dispatchPlaces)[number];

export interface PersonInDispatch {
  readonly dispatchId: string;
  readonly indexes: readonly number[];
  readonly ids: PersonIds;
  /** Only dispatches of this client are erased. */
  readonly clientId?: number | undefined;
}

/**
 * In a dry run, it is what would be done. Messages are named by index, because a dispatch is examined several times,
 * with what another run has left unfinished, and each counts once.
 */
export interface ErasedInDispatch {
  /** These were examined. */
  readonly indexes: ReadonlySet<number>;
  /** Unclaimed messages end `failed`, `erased`. */
  readonly pending: readonly number[];
  /**
   * Workers hold these messages and may still write the platform's texts about them, so the dispatch stays unfinished.
   */
  readonly underWay: readonly number[];
  readonly changed: Readonly<Partial<Record<DispatchPlace, number>>>;
}

/** Awaits `learned` before it removes the source of a learned id. */
export type EraseInDispatch = (
  person: PersonInDispatch,
  learned: (ids: readonly string[]) => Promise<void>,
) => Promise<ErasedInDispatch | undefined>;

/**
 * An erasure stores ids that it learns, by a given id, before their source goes, so that a dead run can be repeated.
 */
export interface LearnedIds {
  of(id: string): Promise<readonly string[]>;
  note(id: string, learned: readonly string[]): Promise<void>;
  forget(id: string): Promise<void>;
}

export interface Erasing {
  readonly ids: PersonIds;
  readonly clientId?: number | undefined;
}

export interface ErasePorts {
  readonly rewriter: Rewriter;
  readonly eraseInDispatch: EraseInDispatch;
  readonly learnedIds: LearnedIds;
  /** Scans items of the messages table that may name a person, page by page; returns the read units. */
  readonly scanMessages: (each: (items: readonly Item[]) => Promise<void>) => Promise<number>;
  /** Scans events of the webhooks table that may contain one of the ids, of one client or all. */
  readonly scanEvents: (erasing: Erasing, each: (items: readonly Item[]) => Promise<void>) => Promise<number>;
  readonly tables: { readonly messages: string; readonly webhooks: string };
}
